from pathlib import Path

import pytest

from bigbfs.bench.suite import read_suite as read_strategy_suite
from bigbfs.config import read_suite
from bigbfs.errors import ConfigError, FileAccessError
from bigbfs.generate.catalogue import find, resolve

ROOT = Path(__file__).resolve().parent.parent


def write(tmp_path, text):
    path = tmp_path / "suite.toml"
    path.write_text(text)
    return path


SUITES = sorted(set((ROOT / "configs").glob("bench-*.toml")) - {ROOT / "configs" / "bench-ranks.toml"})
"""That of ranks is read in ``tests/tools/test_bench_ranks.py``."""


@pytest.mark.parametrize("path", SUITES, ids=lambda path: path.name)
def test_every_suite_of_ours_reads(path):
    suite = read_strategy_suite(path) if path.name.startswith("bench-strategies") else read_suite(path)
    for case in suite.cases:
        if case.kind:
            resolve(find(case.kind), dict(case.parameters))
    assert len({case.name for case in suite.cases}) == len(suite.cases)


def test_values_and_defaults(tmp_path):
    path = write(
        tmp_path, 'seed = 3\n[[cases]]\nname = "a"\nkind = "star"\nalgorithms = ["bfs"]\nparameters = { vertices = 5 }'
    )
    case = read_suite(path).cases[0]
    assert (case.algorithms, case.parameters, case.trials) == (("bfs",), {"vertices": 5}, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('seed = 1\n[[cases]]\nname = "a"\nkind = "star"\nsorces = 3', "unknown key 'sorces'; did you mean 'sources'"),
        ('seed = 1\n[[cases]]\nname = "a"', "key 'kind' is missing"),
        ('seed = 1\n[[cases]]\nname = 7\nkind = "star"', "key 'name' is 7; it must be str"),
        ('seed = 1\n[[cases]]\nname = "a"\nkind = "star"\ntrials = true', "key 'trials' is True"),
        ('seed = 1\n[[cases]]\nname = "a"\nkind = "star"\ncodecs = "plain"', "key 'codecs' is 'plain'"),
        ("seed = 1", "at least one"),
        ("seed = = 1", "not TOML"),
        ('[[cases]]\nname = "a"\nkind = "star"', "key 'seed' is missing"),
        (
            'seed = 1\n[[cases]]\nname = "a"\nkind = "star"\nalgorithms = ["bsf"]',
            "algorithms is .*; choose from bfs",
        ),
        ('seed = 1\n[[cases]]\nname = "a"\nkind = "star"\nbackends = []', r"backends is \[\]; choose from cpu"),
        ('seed = 1\n[[cases]]\nname = "a"\nkind = "star"\ntrials = 0', "trials is 0; at least 1"),
        ("seed = 1\ncases = [1]", "at least one"),
        ('sed = 1\nseed = 1\n[[cases]]\nname = "a"\nkind = "star"', "did you mean 'seed'"),
    ],
)
def test_refuse(tmp_path, text, message):
    with pytest.raises(ConfigError, match=message) as caught:
        read_suite(write(tmp_path, text))
    assert "suite.toml" in str(caught.value)


def test_missing_file(tmp_path):
    with pytest.raises(FileAccessError, match=r"gone\.toml: cannot read: No such file"):
        read_suite(tmp_path / "gone.toml")
