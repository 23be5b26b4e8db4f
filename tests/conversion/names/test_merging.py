"""Merging runs of names: the files that it opens at once."""

import pytest

from bigbfs.conversion.names import merging
from bigbfs.errors import DoesNotFitError


@pytest.mark.parametrize(("hard", "fits"), [(100_000, True), (700, False)])
def test_merging_many_runs_raises_the_limit_of_open_files(hard, fits, monkeypatch):
    """Two files of each run are open at once: more than the usual 1,024 from some hundred runs on."""
    asked = []
    monkeypatch.setattr(merging.resource, "getrlimit", lambda _: (256, hard))
    monkeypatch.setattr(merging.resource, "setrlimit", lambda _, limits: asked.append(limits))
    if fits:
        merging._allow_files(1_376)
        assert asked[0][0] >= 1_376 + 64 and asked[0][1] == hard
    else:
        with pytest.raises(DoesNotFitError, match=r"opens 1,\d{3} files at once, and the limit is 700"):
            merging._allow_files(1_376)
        assert asked == []
