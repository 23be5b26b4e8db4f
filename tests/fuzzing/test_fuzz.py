"""Fuzzing in the test run: every kept input, and random changes to them (longer: tools/fuzz.py).

Eight seconds of changes in ``make test``, a minute in ``make test-wide``.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import fuzz
import fuzz_corpus
import pytest
from wide import split

from fuzzing import targets
from fuzzing.mutation import mutated

SECONDS = float(os.environ.get("BIGBFS_FUZZ_SECONDS", "60"))
"""Of random changes to all targets together."""
FEW_SECONDS = min(8.0, SECONDS)
AT_LEAST = 100
"""Executions of each target, where the machine is slow."""


@pytest.mark.parametrize("name", fuzz.NAMES)
def test_kept_inputs(name, tmp_path):
    for data in fuzz.corpus(name):
        targets.run(name, data, tmp_path)


@pytest.mark.parametrize(("seed", "seconds"), split([(21, FEW_SECONDS), (20, SECONDS)], lambda seed, _: seed == 21))
@pytest.mark.parametrize("name", fuzz.NAMES)
def test_random_changes(name, seed, seconds, tmp_path):
    chance = random.Random(seed)
    pool = fuzz.corpus(name)
    end = time.monotonic() + seconds / len(fuzz.NAMES)
    runs = 0
    while time.monotonic() < end or runs < AT_LEAST:
        data = mutated(chance.choice(pool), chance.choice(pool), chance)
        try:
            targets.run(name, data, tmp_path)
        except Exception as error:
            error.add_note(f"input {data!r} of {name}")
            raise
        runs += 1


def test_a_container_is_folded_without_loss():
    for data in fuzz.corpus("container")[:5]:
        content = targets.unfolded(data[1:])
        assert targets.unfolded(targets.folded(content)) == content
        assert targets.repaired(content) == content


def test_a_broken_promise_is_found(tmp_path, monkeypatch):
    """The oracle has teeth: a tokenizer that drops an edge, a container that is opened wrong."""
    monkeypatch.setattr(targets, "plain", lambda text: ([(1, 2)], 0, []))
    with pytest.raises(AssertionError):
        targets.run("tokenizer", b"\xff\x3f\x001 2\n3 4\n", tmp_path)


def test_jobs_report_together(tmp_path):
    command = [sys.executable, fuzz.__file__, "--target", "decompressor", "--seconds", "1", "--jobs", "2"]
    done = subprocess.run([*command, "--found", tmp_path / "found"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    name, executions, _, jobs, findings = done.stdout.splitlines()[-1].split()
    assert (name, jobs, findings) == ("decompressor", "2", "0") and int(executions.replace(",", "")) > 20
    assert not (tmp_path / "found").exists()


def test_only_what_leads_somewhere_new_is_kept():
    known = fuzz.corpus("decompressor")[0]
    assert known[:2] == b"\x1f\x8b"
    cut_short, no_gzip = known[:-3], b"\x1f\x8b" + bytes(30)
    kept = fuzz_corpus.worth_keeping("decompressor", [known, cut_short, known, cut_short], 1 << 16)
    assert kept == [cut_short]
    assert fuzz_corpus.worth_keeping("decompressor", [cut_short], len(cut_short) - 1) == []
    assert no_gzip in fuzz_corpus.worth_keeping("decompressor", [known, no_gzip], 1 << 16)
