"""Many searches that ended before all was known: what they say of that."""

import json
import signal

import pytest

from bigbfs.algorithms.many import validate
from bigbfs.algorithms.many.cpu.program import CpuMany
from bigbfs.measures.outcome import Known
from bigbfs.measures.placing import Until

UNPROVED = "stopped before what was found was proved"


@pytest.fixture
def grid(run, folder):
    """g.csrbin in the working folder: a grid of 1,024 vertices."""
    assert run("generate", "grid2d", "--scale", 10, "-o", "g.csrbin")[0] == 0
    return folder


@pytest.mark.parametrize(
    ("command", "code"),
    [
        (("closeness",), 0),
        (("hops",), 0),
        (("eccentricity",), 0),
        (("diameter", "--component", "all"), 0),
        (("distances", "--sources", "all"), 130),
        (("distances", "--sources", "all", "-o", "D.npy"), 130),
    ],
)
def test_ctrl_c_ends_a_run_without_its_proof(run, grid, monkeypatch, command, code):
    """Which takes longer than what it proves: who stops a run does not wait for it."""
    ask, asked = Until.__call__, []

    def stopped(self):
        if not asked:
            asked.append(self)
            signal.raise_signal(signal.SIGINT)
        return ask(self)

    def never(*arguments):
        raise AssertionError("proved")

    monkeypatch.setattr(Until, "__call__", stopped)
    monkeypatch.setattr(CpuMany, "verify", never)
    monkeypatch.setattr(Known, "verify", never)
    before = signal.getsignal(signal.SIGINT)
    found, out, err = run(command[0], "g.csrbin", *command[1:], "--verify", "--json", "--threads", 1)
    assert found == code and "stopping after this batch" in err and f"note: {UNPROVED}" in err
    answer = json.loads(out)
    assert answer["verified"] is None and answer["notes"][-1].startswith(UNPROVED)
    assert signal.getsignal(signal.SIGINT) == before


@pytest.mark.parametrize("command", [("closeness",), ("hops",), ("distances", "--sources", "random:300")])
def test_ctrl_c_in_a_proof_ends_it(run, grid, monkeypatch, command):
    calls, look = [], validate.validate_levels

    def stopped(*arguments, **options):
        calls.append(arguments)
        signal.raise_signal(signal.SIGINT)
        return look(*arguments, **options)

    monkeypatch.setattr(validate, "validate_levels", stopped)
    code, out, err = run(command[0], "g.csrbin", *command[1:], "--verify", "--threads", 1)
    assert code == (130 if command[0] == "distances" else 0) and len(calls) == 1, err
    assert UNPROVED in err and "verified" not in out


@pytest.mark.parametrize("command", ["closeness", "hops", "eccentricity", "diameter"])
def test_time_that_is_up_is_no_reason_to_leave_a_proof_out(run, grid, command):
    code, out, err = run(command, "g.csrbin", "--seconds", 0, "--verify", "--json")
    assert (code, err) == (0, "") and json.loads(out)["verified"] is True


def test_who_is_stopped_says_so_and_names_nobody_whose_place_is_open(run, tmp_path, monkeypatch):
    """A grid whose first corner is searched from: it is the farthest, and known to be, while the centre is not."""
    monkeypatch.chdir(tmp_path)
    assert run("generate", "grid2d", "--scale", 10, "-o", "g.csrbin")[0] == 0
    code, out, err = run("eccentricity", "g.csrbin", "--seconds", 0)
    assert code == 0, err
    assert "centre      not known yet" in out and "known       1 of 1,024" in out
    found = json.loads(run("eccentricity", "g.csrbin", "--seconds", 0, "--json")[1])
    assert found["centre"] == [] and not found["exact"]
    code, out, err = run("closeness", "g.csrbin", "--seconds", 0)
    assert code == 0, err
    assert ("stopped" in out) == ("sample" in out)
    code, out, err = run("closeness", "g.csrbin", "--sources", "random:5")
    assert code == 0 and "sample" in out and "stopped" not in out, err
    (tmp_path / "apart.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(200)) + "500 501\n")
    code, out, err = run("closeness", "apart.txt", "--sources", "random:5")
    assert code == 0 and "none of them reaches: of a small component" in " ".join(out.split()), err
