"""Machine code that reads what nothing has set is found, and code that does not is left alone."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))

import unset_registers

AS_COMPILED = """
.section\t.text.{name},"ax",@progbits
.text.{name}:
        /*0000*/                   LDC R1, c[0x0][0x28] ;
        /*0010*/                   S2R R16, SR_TID.X ;
        /*0020*/                   ULDC.64 UR12, c[0x0][0x4c0] ;
        /*0030*/                   ISETP.NE.AND P1, PT, R16, RZ, PT ;
{loaded}        /*0050*/              @!P1 R2UR UR4, R10 ;
        /*0060*/              @!P1 R2UR UR5, R11.reuse ;
        /*0070*/              @!P1 LDG.E.64.STRONG.SYS R4, desc[UR4][R4.64+0x18] ;
.L_x_1:
        /*0080*/                   LDS R10, [UR4+0xa950] ;
"""
LOADED = "        /*0040*/                   LDC.64 R10, c[0x0][0x208] ;\n"


def code(name: str, loaded: str) -> str:
    return AS_COMPILED.format(name=name, loaded=loaded)


def test_a_descriptor_that_is_never_loaded_is_found():
    """As NVRTC 13.0 compiled the first kernel of a search over several GPUs; it is written behind, too late."""
    found = unset_registers.unset(code("peers_begin", "") + code("peers_count", LOADED))
    assert found == {"peers_begin": ["R2UR UR4, R10", "R2UR UR5, R11.reuse"], "peers_count": []}


def test_what_only_reads_a_register_sets_none():
    for line in ("STG.E [R10], R11", "ISETP.GE.AND P0, PT, R10, R11, PT", "RED.E.ADD.STRONG.GPU [R10.64], R11"):
        found = unset_registers.unset(code("kernel", f"        /*0040*/                   {line} ;\n"))
        assert len(found["kernel"]) == 2, line


def test_results_behind_predicates_are_set():
    for line in ("ATOMG.E.ADD.64.STRONG.GPU PT, R10, desc[UR4][R2.64], R4", "IADD3 R10, P0, R2, R3, RZ"):
        found = unset_registers.unset(code("kernel", f"        /*0040*/               @P0 {line} ;\n"))
        assert found["kernel"] == [], line
