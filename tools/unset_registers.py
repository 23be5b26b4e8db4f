"""Find kernels whose machine code reads a register that it never sets: the compiler can be wrong, too.

NVRTC 12.9, 13.0 and 13.5 compiled a load that acquires, and whose value nobody used, into kernels in which every access
to memory took its descriptor from a register that nothing had set. What lay there decided whether they ran or ended
with "an illegal instruction was encountered". So the machine code is looked at: a descriptor goes from a register of
the thread to one of the warp by ``R2UR``, and an earlier instruction must have written that register. "Earlier" is by
address, and whatever might write is taken to: what is named here is wrong, and what is not might be.

In: machine code of kernels, one after another, and ``nvdisasm`` (pip install nvidia-cuda-nvdisasm; no GPU). Out: for
each kernel the instructions that read what nothing has set. The disassembler takes a third of a second to start,
whatever it is given: so it is given many kernels at once, as bare instructions, which it does not look at further.
tools/compile_kernels.py asks for each kernel that it compiles.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

_ADDRESS = re.compile(r"^\s*/\*[0-9a-f]+\*/", re.MULTILINE)
_INSTRUCTION = re.compile(r"\s*/\*([0-9a-f]+)\*/\s+(?:@!?U?P\w+\s+)?(\S+)\s*(.*?)\s*;")
_REGISTER = re.compile(r"R(\d+)\b")
_READS_ALONE = re.compile(r"ST|RED|BAR|BR|CALL|RET|JM|EXIT|WARPSYNC|NANOSLEEP|R2UR|R2P|[A-Z]*SETP")
_WIDEST = 4
"""Registers that an instruction writes at most."""
_BYTES = 16
"""Of an instruction, since sm_70."""


@cache
def nvdisasm() -> Path | None:
    """Return the disassembler: that of the wheel, or the one of a toolkit; None: neither is here."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations or () if found else ():
        for path in sorted(Path(folder).glob("*/bin/nvdisasm")):
            return path
    on_path = shutil.which("nvdisasm")
    return Path(on_path) if on_path else None


def wrongs(codes: Sequence[bytes], arch: int) -> list[str]:
    """Return what is wrong with the machine code of each kernel, for ``sm_<arch>``; "" if nothing.

    That is an instruction that reads what nothing has set, or whatever the disassembler refuses. Without a disassembler
    nothing is found.
    """
    if (tool := nvdisasm()) is None or not codes:
        return [""] * len(codes)
    try:
        text = disassembled(b"".join(codes), arch, tool)
    except RuntimeError as error:
        # one that is refused says nothing of those beside it
        return [str(error)] if len(codes) == 1 else [wrong for code in codes for wrong in wrongs([code], arch)]
    found = unset(text, [len(code) for code in codes])
    return [f"registers are read that nothing has set: {lines}" if lines else "" for lines in found]


def disassembled(code: bytes, arch: int, tool: Path) -> str:
    """Return machine code for ``sm_<arch>`` as text, an instruction a line, each behind its address.

    Raises
    ------
    RuntimeError
        The disassembler refuses it, or leaves some out; the message is its own.
    """
    with tempfile.NamedTemporaryFile(suffix=".bin") as file:
        file.write(code)
        file.flush()
        done = subprocess.run(
            [tool, "--binary", f"SM{arch}", "--print-raw", file.name], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(f"{tool}: {done.stderr.strip()}")
    there = len(_ADDRESS.findall(done.stdout))
    if there * _BYTES != len(code):
        raise RuntimeError(f"{tool}: {there} instructions in {len(code)} bytes of machine code, each of {_BYTES}")
    return done.stdout


def unset(text: str, lengths: Sequence[int]) -> list[list[str]]:
    """Return the instructions of each kernel that read a register nothing has set, from what ``disassembled`` returns.

    ``lengths`` are those of the kernels' code in bytes, in their order.
    """
    found: list[list[str]] = [[] for _ in lengths]
    ends = list(accumulate(lengths))
    kernel, written = 0, set[int]()
    for line in text.splitlines():
        if not (instruction := _INSTRUCTION.match(line)):
            continue
        address, name, operands = instruction.groups()
        while int(address, 16) >= ends[kernel]:
            kernel, written = kernel + 1, set()
        if name.startswith("R2UR"):
            read = [int(register) for register in _REGISTER.findall(operands.replace("UR", "U"))]
            if not written.issuperset(read):
                found[kernel].append(f"{name} {operands}")
        elif not _READS_ALONE.match(name):
            written |= _written(operands)
    return found


def _written(operands: str) -> set[int]:
    """Return the registers that an instruction may write: those from its first one on, behind what are predicates."""
    for operand in operands.split(","):
        if register := _REGISTER.match(operand.strip()):
            first = int(register[1])
            return set(range(first, first + _WIDEST))
        if not re.match(r"\s*!?U?P", operand):
            return set()
    return set()
