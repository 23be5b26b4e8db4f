"""The kernels as far as no GPU is needed: they compile clean, and Python and C++ agree about them."""

import re
import sys
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import unset_registers

from bigbfs.algorithms.bfs.gpu import arguments as bfs
from bigbfs.algorithms.bfs.gpu import streamed
from bigbfs.algorithms.bfs.gpu.peers import arguments as peers
from bigbfs.algorithms.components.gpu.peers import arguments as joint
from bigbfs.algorithms.every_kernel import every_kernel, variants_of
from bigbfs.algorithms.many.gpu import arguments as many
from bigbfs.algorithms.topological.gpu import arguments as topological
from bigbfs.engines.gpu.ranks.arguments import PART
from bigbfs.engines.gpu.runtime import arguments
from bigbfs.engines.gpu.runtime.cuda import SOURCES, compile_options, source, source_hash

FILES = sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.cu"))
SMALL = sorted(FILES, key=lambda file: (SOURCES / file).stat().st_size)[:10]
HEADERS = sorted(path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.cuh"))


@pytest.fixture(scope="module")
def compiler():
    """tools/compile_kernels.py, where NVRTC is installed."""
    pytest.importorskip("cupy", exc_type=ImportError)
    from cupy.cuda import nvrtc

    try:
        nvrtc.getVersion()
    except Exception as error:
        pytest.skip(f"NVRTC cannot be loaded: {error}")
    import compile_kernels

    return compile_kernels


def nvrtc_compile(text, codec="plain", ids=np.uint32, file="kernels/placement/place.cu"):
    from cupy.cuda.compiler import _NVRTCProgram

    options = compile_options(variants_of(file)[0].variant(np.dtype(ids), codec, arguments.TEAM))
    _NVRTCProgram(text, "test.cu").compile(("-arch=sm_90", *options))


@pytest.mark.parametrize(("number", "file"), list(enumerate(SMALL)))
def test_compiles_without_spills(compiler, number, file):
    """Ten files, one variant each: ``make kernels`` holds every variant of every file to the same."""
    ids, codec = compiler.VARIANTS[number % 4]
    for usage in compiler.compile_kernel(file, 90, ids, codec):
        assert not compiler.spills(usage, ids, codec, 90), usage
        assert not compiler.crowds(usage, 90, ids), usage


def test_each_share_has_all_of_one_architecture_and_the_others_by_turns():
    import compile_kernels

    every = compile_kernels.jobs_of(compile_kernels.ARCHITECTURES)
    always = [job for job in every if job[1] == compile_kernels.ALWAYS]
    shares = [compile_kernels.jobs_of(compile_kernels.ARCHITECTURES, (number, 12)) for number in range(1, 13)]
    assert all(set(always) <= set(share) for share in shares)
    dealt = [job for share in shares for job in share if job[1] != compile_kernels.ALWAYS]
    assert len(dealt) == len(set(dealt)) and set(dealt) | set(always) == set(every)
    assert {(file, arch) for file, arch, _, _ in every} == {
        (file, arch) for file in FILES for arch in compile_kernels.ARCHITECTURES
    }
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


@pytest.mark.parametrize("wrong", ["0/12", "13/12", "1", "a/b"])
def test_a_share_that_there_is_not_is_refused(wrong, monkeypatch, capsys):
    import compile_kernels

    monkeypatch.setattr(sys, "argv", ["compile_kernels.py", "--share", wrong])
    with pytest.raises(SystemExit, match="2"):
        compile_kernels.main()
    assert f"--share: {wrong}: not the number of a share" in capsys.readouterr().err


def test_too_many_registers_are_seen(compiler):
    usage = compiler.Usage("k", 64, 1024, 0, 0)
    assert not compiler.crowds(usage, 90, np.uint32)
    assert compiler.crowds(replace(usage, registers=65), 90, np.uint32)
    team = replace(
        usage, kernel=min(compiler.TEAMS), registers=65_536 // arguments.team_threads(arguments.TEAM, np.uint32)
    )
    assert not compiler.crowds(team, 90, np.uint32)
    assert compiler.crowds(replace(team, registers=team.registers + 1), 90, np.uint32)


def test_a_spill_is_seen(compiler):
    log = """ptxas info    : Compiling entry function 'k' for 'sm_90'
    ptxas         .     8 bytes stack frame, 12 bytes spill stores, 16 bytes spill loads
    ptxas info    : Used 32 registers, used 0 barriers, 1024 bytes smem"""
    [usage] = compiler.parse_usage(log)
    assert usage == compiler.Usage("k", 32, 1024, 8, 28)
    assert compiler.spills(usage, np.uint32, "plain", 90)
    assert not compiler.spills(compiler.Usage("k", 32, 1024, 0, 0), np.uint32, "plain", 90)


def test_what_is_known_of_one_architecture_is_refused_on_others(compiler):
    for (kernel, ids, codec, arch), (stack, known) in compiler.KNOWN_ON.items():
        usage = compiler.Usage(kernel, 64, 1024, stack, known)
        assert not compiler.spills(usage, ids, codec, arch)
        assert all(compiler.spills(usage, ids, codec, other) for other in compiler.ARCHITECTURES if other != arch)
        assert compiler.spills(replace(usage, spills=known + 4), ids, codec, arch)


def test_machine_code_that_reads_what_nothing_sets_is_refused(compiler, monkeypatch):
    monkeypatch.setattr(unset_registers, "nvdisasm", lambda: Path("nvdisasm"))
    text = "        /*0010*/                   R2UR UR4, R10 ;\n"
    monkeypatch.setattr(unset_registers, "disassembled", lambda code, arch, tool: text)
    with pytest.raises(compiler.CompileFailure, match=r"miscompiled, .* nothing has set: .'R2UR UR4, R10'"):
        compiler.compile_kernel("kernels/placement/place.cu", 90, np.uint32, "plain")
    monkeypatch.setattr(unset_registers, "disassembled", lambda *code: text.replace("R2UR UR4", "MOV R4"))
    assert compiler.compile_kernel("kernels/placement/place.cu", 90, np.uint32, "plain")


def test_what_the_disassembler_refuses_is_a_failure(compiler, monkeypatch):
    def refused(code, arch, tool):
        raise RuntimeError("nvdisasm fatal: an architecture that it does not know")

    monkeypatch.setattr(unset_registers, "nvdisasm", lambda: Path("nvdisasm"))
    monkeypatch.setattr(unset_registers, "disassembled", refused)
    with pytest.raises(compiler.CompileFailure, match="does not know"):
        compiler.compile_kernel("kernels/placement/place.cu", 90, np.uint32, "plain")


def test_each_instruction_is_looked_at(compiler):
    """The disassembler says as many as there are: 16 bytes each."""
    tool = compiler.nvdisasm()
    if tool is None:
        pytest.skip("nvidia-cuda-nvdisasm is not installed")
    [variant] = compiler.compiled("kernels/placement/place.cu", 90, np.uint32, "plain")
    code = b"".join(variant.codes.values())
    lines = unset_registers.disassembled(code, 90, tool).splitlines()
    addresses = [int(found[1], 16) for line in lines if (found := re.match(r"\s*/\*([0-9a-f]+)\*/", line))]
    assert addresses == list(range(0, len(code), 16)) and len(variant.codes) == len(variant.usages)


@pytest.mark.parametrize("bytes_at_once", [1, 1 << 20])
def test_of_all_that_is_compiled_what_is_wrong_is_named(compiler, monkeypatch, bytes_at_once):
    class Here:
        def submit(self, function, *arguments):
            future = Future()
            future.set_result(function(*arguments))
            return future

    monkeypatch.setattr(compiler, "LOOKED_AT_ONCE", bytes_at_once)
    monkeypatch.setattr(
        compiler, "wrongs", lambda codes, arch: [f"{code} {arch}" if b"?" in code else "" for code in codes]
    )
    looked_at = compiler.LookedAt(Here())
    for arch in (80, 90):
        looked_at.add(("a.cu", arch, np.uint32, "plain"), {"good": b".", "bad": b"?"})
        looked_at.add(("b.cu", arch, np.uint64, "varint"), {"better": b"."})
    assert list(looked_at.failures()) == [
        f"sm_{arch} a.cu uint32 plain bad: miscompiled, b'?' {arch}" for arch in (80, 90)
    ]


def test_a_compiler_message_names_file_and_line(compiler):
    from cupy.cuda.compiler import CompileException

    with pytest.raises(CompileException, match=r"place\.cu\(1\): error"):
        nvrtc_compile(source("kernels/placement/place.cu").replace("\n", "\nthis is no C++ ", 1))


STRUCTS = {
    "Piece": arguments.PIECE,
    "Search": streamed.SEARCH,
    "PieceList": arguments.PIECE_LIST,
    "Tables": arguments.TABLES,
    "Adjacency": arguments.ADJACENCY,
    "Bfs": bfs.BFS,
    "Slot": bfs.SLOT,
    "Progress": bfs.PROGRESS,
    "Counts": arguments.COUNTS,
    "Kahn": topological.KAHN,
    "Stand": topological.STAND,
    "Sums": topological.SUMS,
    "Many": many.MANY,
    "ManyStand": many.STAND,
    "ManySums": many.SUMS,
    "Part": PART,
    "Letter": peers.LETTER,
    "Joint": peers.JOINT,
    "Peers": peers.PEERS,
    "Ranks": joint.RANKS,
}

TRAVERSE = ("algorithms/bfs/gpu/bfs.cuh", "algorithms/bfs/gpu/bfs_traverse.cu")
HOMES = dict.fromkeys(STRUCTS, TRAVERSE) | {
    "Counts": ("kernels/passes/passes.cuh", "algorithms/components/gpu/cc_simple.cu"),
    "Piece": ("kernels/rows/piece.cuh", "kernels/proof/prove.cu"),
    "PieceList": ("", "kernels/placement/streamed_pieces.cu"),
    "Search": ("algorithms/bfs/gpu/streamed.cuh", "algorithms/bfs/gpu/streamed_bfs.cu"),
    **dict.fromkeys(("Kahn", "Stand", "Sums"), ("algorithms/topological/gpu/kahn.cuh", topological.FILE)),
    **dict.fromkeys(("Many", "ManyStand", "ManySums"), ("algorithms/many/gpu/many.cuh", "algorithms/many/gpu/many.cu")),
    "Ranks": ("algorithms/components/gpu/peers/joint.cuh", joint.FILE),
    **dict.fromkeys(("Part", "Letter", "Joint", "Peers"), ("algorithms/bfs/gpu/peers/peers.cuh", peers.FILE)),
}
"""The header that has a struct, and a file that is compiled with its defines."""
del HOMES["Tables"]


@pytest.mark.parametrize(("struct", "dtype"), STRUCTS.items())
def test_structs_have_the_layout_of_their_dtypes(compiler, struct, dtype):
    checks = [f'static_assert(sizeof({struct}) == {dtype.itemsize}, "size");']
    for name, (_, offset) in dtype.fields.items():
        checks.append(f'static_assert(__builtin_offsetof({struct}, {name}) == {offset}, "{name}");')
    home, file = HOMES.get(struct, ("", "kernels/placement/streamed_place.cu"))
    header = f'#include "{home}"\n' if home else source(file)
    nvrtc_compile(header + "\n".join(checks), file=file)
    with pytest.raises(Exception, match="static assertion failed"):
        nvrtc_compile(header + checks[-1].replace(f"== {offset}", f"== {offset + 8}"), file=file)


def test_constants_that_both_languages_name_agree():
    text = (SOURCES / "kernels/rows/heads.cuh").read_text()
    assert f"HEAD_GROUP = {arguments.HEAD_GROUP};" in text
    assert f"SAMPLE = {joint.SAMPLE};" in (SOURCES / "algorithms/components/gpu/giant.cuh").read_text()
    note = (SOURCES / "algorithms/bfs/gpu/bfs.cuh").read_text()
    assert "// " + ", ".join(f"{code} {name}" for code, name in bfs.DIRECTIONS.items()) in note


@pytest.mark.parametrize("file", FILES)
def test_every_kernel_has_its_entry(file):
    text = (SOURCES / file).read_text()
    kernels = re.findall(r"^KERNEL void (\w+)\(", text, re.M)
    assert kernels
    assert kernels == re.findall(r"^ENTRY\((\w+)\)", text, re.M)


@pytest.mark.parametrize("file", FILES + HEADERS)
def test_sources_keep_to_what_both_compilers_take(file):
    text = (SOURCES / file).read_text()
    assert text.startswith("// ")
    assert len(text.splitlines()) <= 200
    assert set(re.findall(r"#include (\S+)", text)) <= {f'"{name}"' for name in HEADERS} | {'"simt.hpp"'}
    assert "<<<" not in text
    if file != "kernels/base/platform.cuh":
        text = re.sub(r"//.*", "", text)
        assert "asm" not in text
        assert not re.search(r"\b(?:u?int\d*_t|size_t|unsigned|long|short|__global__|extern)\b", text)


def test_every_kernel_is_declared_by_somebody():
    declared = {(spec.file, spec.name) for spec in every_kernel()}
    exist = {
        (file, name) for file in FILES for name in re.findall(r"^ENTRY\((\w+)\)", (SOURCES / file).read_text(), re.M)
    }
    assert declared == exist


def test_the_hash_follows_the_sources(tmp_path, monkeypatch):
    from bigbfs.engines.gpu.runtime import cuda

    before = source_hash()
    assert f"-DBIGBFS_SOURCES=0x{before}" in compile_options({})
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "a.cuh").write_text("// a")
    monkeypatch.setattr(cuda, "SOURCES", tmp_path)
    source_hash.cache_clear()
    first = source_hash()
    (tmp_path / "include" / "a.cuh").write_text("// b")
    source_hash.cache_clear()
    assert len({before, first, source_hash()}) == 3
    monkeypatch.undo()
    source_hash.cache_clear()
    assert source_hash() == before
