"""A manifest that is none: refused in words, whatever JSON it is."""

from __future__ import annotations

import pytest

from bigbfs.errors import FormatError
from bigbfs.formats.shards.manifest import read_manifest


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "'format' is missing"),
        ("[]", "it does not list shards"),
        ("null", "it does not list shards"),
        ("{", "Expecting"),
    ],
)
def test_json_that_is_no_manifest(text, why, tmp_path):
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(FormatError, match=rf"manifest\.json: is damaged: {why}.*; fetch it again"):
        read_manifest(tmp_path)
