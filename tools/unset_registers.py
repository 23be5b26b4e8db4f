"""Find kernels whose machine code reads a register that it never sets: the compiler can be wrong, too.

NVRTC 12.9, 13.0 and 13.5 compiled a load that acquires, and whose value nobody used, into kernels in which every access
to memory took its descriptor from a register that nothing had set. What lay there decided whether they ran or ended
with "an illegal instruction was encountered". So the machine code is looked at: a descriptor goes from a register of
the thread to one of the warp by ``R2UR``, and an earlier instruction must have written that register. "Earlier" is by
address, and whatever might write is taken to: what is named here is wrong, and what is not might be.

In: a cubin, and ``nvdisasm`` (pip install nvidia-cuda-nvdisasm; no GPU). Out: for each kernel the instructions that
read what nothing has set. tools/compile_kernels.py asks for each kernel that it compiles.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

_KERNEL = re.compile(r"\s*\.text\.(\S+):")
_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?(\S+)\s*(.*?)\s*;")
_REGISTER = re.compile(r"R(\d+)\b")
_READS_ALONE = re.compile(r"ST|RED|BAR|BR|CALL|RET|JM|EXIT|WARPSYNC|NANOSLEEP|R2UR|R2P|[A-Z]*SETP")
_WIDEST = 4
"""Registers that an instruction writes at most."""


@cache
def nvdisasm() -> Path | None:
    """Return the disassembler: that of the wheel, or the one of a toolkit; None: neither is here."""
    found = importlib.util.find_spec("nvidia")
    for folder in found.submodule_search_locations or () if found else ():
        for path in sorted(Path(folder).glob("*/bin/nvdisasm")):
            return path
    on_path = shutil.which("nvdisasm")
    return Path(on_path) if on_path else None


def disassembled(cubin: bytes, tool: Path) -> str:
    """Return the machine code as text.

    Raises
    ------
    RuntimeError
        The disassembler refuses it; the message is its own.
    """
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin + b"\0")  # CuPy leaves the last byte out
        file.flush()
        done = subprocess.run([tool, "-c", file.name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{tool}: {done.stderr.strip()}")
    return done.stdout


def unset(text: str) -> dict[str, list[str]]:
    """Return the instructions of each kernel that read a register nothing has set, from what ``nvdisasm -c`` prints."""
    found: dict[str, list[str]] = {}
    kernel, written = "", set[int]()
    for line in text.splitlines():
        if named := _KERNEL.match(line):
            kernel, written = named[1], set()
            found[kernel] = []
        elif (instruction := _INSTRUCTION.match(line)) and kernel:
            name, operands = instruction.groups()
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
