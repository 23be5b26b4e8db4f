"""No kernel changes without a run on a GPU: the evidence in tests/gpu is for the sources that are here."""

import json
import re
import shutil
import sys
import warnings

import gpu_evidence
import pytest
from gpu_sources import PACKAGE, code_of, hash_of_sources, kernel_code_of, source_files


@pytest.mark.filterwarnings("default:WAIVED")
def test_the_sources_have_run_on_a_gpu():
    good, line = gpu_evidence.objection(gpu_evidence.EVIDENCE, gpu_evidence.WAIVED, hash_of_sources())
    if good and line.startswith("WAIVED"):
        warnings.warn(line, stacklevel=1)
    assert good, line


def copy_of_sources(folder):
    for path in source_files():
        copy = folder / path.relative_to(PACKAGE)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return folder


def test_the_hash_follows_contents_and_names_and_nothing_else(tmp_path):
    package = copy_of_sources(tmp_path)
    before = hash_of_sources(package)
    assert before == hash_of_sources()
    (package / "engines" / "gpu" / "__pycache__").mkdir(exist_ok=True)
    (package / "engines" / "gpu" / "__pycache__" / "left.pyc").write_bytes(b"x")
    header = package / "kernels" / "base" / "platform.cuh"
    header.write_bytes(header.read_bytes().replace(b"\n", b"\r\n"))
    assert hash_of_sources(package) == before
    header.write_text(header.read_text() + "\n  // says one thing more\n")
    assert hash_of_sources(package) == before
    header.write_text(header.read_text() + "\nint more;\n")
    changed = hash_of_sources(package)
    assert changed != before
    header.rename(header.with_name("other.cuh"))
    assert hash_of_sources(package) not in (before, changed)


def test_the_hash_covers_every_kernel_and_module():
    names = {path.relative_to(PACKAGE).as_posix() for path in source_files()}
    assert {
        "algorithms/bfs/gpu/loop.py",
        "engines/gpu/engine.py",
        "algorithms/bfs/gpu/bfs_traverse.cu",
        "kernels/rows/varint.cuh",
    } <= names


def test_words_for_readers_do_not_count():
    code = '"""Says one thing."""\nX = 1\n"""Of X."""\ndef f():\n    """Do."""\n    return X  # yes\n'
    same = '"""Says another."""\nX = 1\n\n\ndef f():\n    return X\n'
    assert code_of(code) == code_of(same)
    assert code_of(code) != code_of(same.replace("X = 1", "X = 2"))
    assert code_of("X = 'text'") != code_of("X = 'other'")


def test_layout_and_comments_of_kernels_do_not_count_and_all_else_does():
    text = '#define A(x) \\\n    (x)\nint f(int a) { /* does */ return a+1; } // well\nchar s[] = "a // b";\n'
    same = '#define A(x) (x)\n\nint f(int a)\n{\n    return a + 1;\n}\nchar s[] = "a // b"; // two\n'
    assert kernel_code_of(text) == kernel_code_of(same)
    assert kernel_code_of(text) != kernel_code_of(same.replace("a // b", "a // c"))
    assert kernel_code_of(text) != kernel_code_of(same.replace("+ 1", "+ 2"))
    assert kernel_code_of("#if A\nint b;\n#endif\n") != kernel_code_of("#if A int b;\n#endif\n")
    assert kernel_code_of("a b") != kernel_code_of("ab")


def test_the_hash_is_that_of_any_python():
    """Python 3.12 lists the parameters of types that a function has not, and 3.13 lists no empty lists."""
    assert code_of("def f(a, *, b=1):\n    return [a, b]\n") == (
        "Module(body=[FunctionDef(name='f', args=arguments(args=[arg(arg='a')], kwonlyargs=[arg(arg='b')], "
        "kw_defaults=[Constant(value=1)]), body=[Return(value=List(elts=[Name(id='a', ctx=Load()), Name(id='b', "
        "ctx=Load())], ctx=Load()))])])"
    )


@pytest.mark.parametrize(
    ("evidence", "waived", "good", "message"),
    [
        (None, None, False, "evidence.json is missing"),
        ({"sources": "abc", "passed": 5, "failed": 0, "device": "H", "date": "D"}, None, True, "5 tests on H, D"),
        ({"sources": "old", "passed": 5, "failed": 0, "device": "H", "date": "D"}, None, False, "have changed since"),
        ({"sources": "abc", "passed": 5, "failed": 1}, None, False, "1 failed"),
        ({"sources": "abc", "passed": 0, "failed": 0}, None, False, "0 passed"),
        (
            {"sources": "abc", "passed": 5, "failed": 0, "compute_sanitizer": {"memcheck": "errors"}},
            None,
            False,
            "compute-sanitizer is not clean",
        ),
        (
            {"sources": "abc", "passed": 5, "failed": 0, "compute_sanitizer": {"racecheck": "stopped after 400 s"}},
            None,
            False,
            "compute-sanitizer is not clean",
        ),
        (None, "abc no GPU was free", True, "WAIVED.*no GPU was free"),
        (None, "abc", False, "missing"),
        ({"sources": "old", "passed": 5, "failed": 0}, "other reason", False, "have changed"),
    ],
)
def test_what_counts_as_evidence(tmp_path, evidence, waived, good, message):
    paths = tmp_path / "evidence.json", tmp_path / "WAIVED"
    if evidence is not None:
        paths[0].write_text(json.dumps(evidence))
    if waived is not None:
        paths[1].write_text(waived)
    found, line = gpu_evidence.objection(*paths, "abc")
    assert found == good
    assert re.search(message, line)


def test_without_a_gpu_nothing_is_written(tmp_path, monkeypatch, capsys):
    from bigbfs.errors import NoDeviceError

    def nothing():
        raise NoDeviceError("no driver")

    monkeypatch.setattr(gpu_evidence, "describe_device", nothing)
    assert gpu_evidence.main(["--output", str(tmp_path / "evidence.json")]) == 4
    assert "no driver" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_some_of_the_tests_are_no_evidence(capsys):
    with pytest.raises(SystemExit) as stopped:
        gpu_evidence.main(["-k", "path"])
    assert stopped.value.code == 2
    assert "-k path" in capsys.readouterr().err


@pytest.mark.parametrize(("code", "status"), [(0, 0), (1, 1), (2, 1), (3, 1), (5, 1)])
def test_a_run_that_does_not_get_to_the_end_is_no_evidence(code, status, tmp_path, monkeypatch, capsys):
    def stopped(_, plugins):
        plugins[0].outcomes = {"one": "passed", "two": "failed" if code == 1 else "passed"}
        return code

    monkeypatch.setattr(gpu_evidence, "describe_device", lambda: {"device": "H"})
    monkeypatch.setattr(pytest, "main", stopped)
    output = tmp_path / "evidence.json"
    assert gpu_evidence.main(["--output", str(output), "--no-sanitizer"]) == status
    assert output.exists() == (code in (0, 1))
    assert ("did not get to the end" in capsys.readouterr().err) == (code > 1)


def test_the_sanitizer_looks_at_memory_of_no_pool():
    """A pool rounds sizes up, so that a few bytes too far are inside its block."""
    from types import SimpleNamespace

    import sanitize_gpu

    cuda = SimpleNamespace(
        MemoryPool=None, Memory=lambda size: size, MemoryPointer=lambda memory, at: (memory, at), set_allocator=print
    )
    sanitize_gpu.without_pool(SimpleNamespace(cuda=cuda))
    pool = cuda.MemoryPool()
    pool.set_limit(size=1)
    assert pool.malloc(13) == (13, 0)
    assert pool.used_bytes() == pool.free_bytes() == pool.total_bytes() == 0
    pool.free_all_blocks()


def test_a_graph_that_is_not_clean_is_named(tmp_path, monkeypatch, capfd):
    import sanitize_gpu

    program = tmp_path / "compute-sanitizer"
    program.write_text(
        f"#!{sys.executable}\nimport sys\nname = sys.argv[-1]\nprint('4 traversals done')\n"
        "sys.exit({'path': 86, 'clique': 1}.get(name, 0))\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(sanitize_gpu, "sanitizer", lambda: str(program))
    assert sanitize_gpu.run_all() == dict.fromkeys(sanitize_gpu.TOOLS, "errors")
    said = capfd.readouterr()
    assert "memcheck, path:" in said.out
    assert said.err.count("racecheck, ") == len(sanitize_gpu.GRAPHS)
    monkeypatch.setattr(sanitize_gpu, "GRAPHS", ("random", "clique"))
    assert sanitize_gpu.run_all() == dict.fromkeys(sanitize_gpu.TOOLS, "did not run (clique: exit code 1)")


def test_what_one_share_says_is_said_of_all():
    import sanitize_gpu

    assert sanitize_gpu.worst(["clean", "clean"]) == "clean"
    assert sanitize_gpu.worst(["clean", "stopped after 9 s", "clean"]) == "stopped after 9 s"
    assert sanitize_gpu.worst(["stopped after 9 s", "errors", "clean"]) == "errors"
