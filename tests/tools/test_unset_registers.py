"""Machine code that reads what nothing has set is found, and code that does not is left alone."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import unset_registers

AS_COMPILED = (
    "LDC R1, c[0x0][0x28]",
    "S2R R16, SR_TID.X",
    "ULDC.64 UR12, c[0x0][0x4c0]",
    "ISETP.NE.AND P1, PT, R16, RZ, PT",
)
AS_READ = (
    "@!P1 R2UR UR4, R10",
    "@!P1 R2UR UR5, R11.reuse",
    "@!P1 LDG.E.64.STRONG.SYS R4, desc[UR4][R4.64+0x18]",
    "LDS R10, [UR4+0xa950]",
)
LOADED = "LDC.64 R10, c[0x0][0x208]"


def unset(*kernels: tuple[str, ...]) -> list[list[str]]:
    """What is found in kernels of a few instructions, each of 16 bytes, one behind the other."""
    lines = [instruction for kernel in kernels for instruction in kernel]
    text = "".join(f"        /*{16 * n:04x}*/                   {line} ;\n" for n, line in enumerate(lines))
    return unset_registers.unset(text, [16 * len(kernel) for kernel in kernels])


def code(*loaded: str) -> tuple[str, ...]:
    return (*AS_COMPILED, *loaded, *AS_READ)


def test_a_descriptor_that_is_never_loaded_is_found():
    """As NVRTC 13.0 compiled the first kernel of a search over several GPUs; it is written behind, too late."""
    assert unset(code(), code(LOADED)) == [["R2UR UR4, R10", "R2UR UR5, R11.reuse"], []]


def test_what_one_kernel_sets_the_next_has_not():
    assert unset(code(LOADED), (), code(), code(LOADED)) == [[], [], ["R2UR UR4, R10", "R2UR UR5, R11.reuse"], []]


def test_what_only_reads_a_register_sets_none():
    for line in ("STG.E [R10], R11", "ISETP.GE.AND P0, PT, R10, R11, PT", "RED.E.ADD.STRONG.GPU [R10.64], R11"):
        [found] = unset(code(line))
        assert len(found) == 2, line


def test_results_behind_predicates_are_set():
    for line in ("ATOMG.E.ADD.64.STRONG.GPU PT, R10, desc[UR4][R2.64], R4", "IADD3 R10, P0, R2, R3, RZ"):
        assert unset(code(f"@P0 {line}")) == [[]], line


def test_of_many_kernels_the_one_that_is_refused_is_named(monkeypatch):
    def disassembled(code: bytes, arch: int, tool: Path) -> str:
        if b"?" in code:
            raise RuntimeError("nvdisasm fatal: no instruction")
        return "".join(
            f"/*{place:04x}*/ {'R2UR UR4, R9' if it == ord('!') else 'NOP'} ;\n" for place, it in enumerate(code)
        )

    monkeypatch.setattr(unset_registers, "nvdisasm", lambda: Path("nvdisasm"))
    monkeypatch.setattr(unset_registers, "disassembled", disassembled)
    said = "registers are read that nothing has set: ['R2UR UR4, R9']"
    assert unset_registers.wrongs([b"..", b".!", b"..."], 90) == ["", said, ""]
    assert unset_registers.wrongs([b"..", b"?.", b".!"], 90) == ["", "nvdisasm fatal: no instruction", said]
    assert unset_registers.wrongs([], 90) == []


def test_without_a_disassembler_nothing_is_found(monkeypatch):
    monkeypatch.setattr(unset_registers, "nvdisasm", lambda: None)
    assert unset_registers.wrongs([b"?"], 90) == [""]
