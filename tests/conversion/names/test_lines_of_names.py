"""In which line of a CSV file a bad name stands, whose records may be of several lines."""

import gzip

import pytest

from bigbfs.conversion import ConvertOptions, convert
from bigbfs.errors import InputError
from bigbfs.formats.tables import csvfile

AS_NAMES = ConvertOptions(names=True)


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b'source,target\n"a\nb",c\nc,\n', 4),  # line ends in quotes
        (b'source,target\r\n\r\n"a\r\nb",c\r\n\r\nc,\r\n', 6),  # and blank lines
        (b"# one\n\nsource,target\na,b\n,b\n", 5),
        (b"source;target;x\na;b;\nc;\xc3\xa9;y\n;b;\n", 4),
        (b"source,target\na,b\n" + b"c,d\n" * 100 + b'"x ""y"" z",\n', 103),
    ],
)
def test_the_line_of_a_bad_name(tmp_path, content, line, monkeypatch):
    (tmp_path / "g.csv").write_bytes(content)
    with pytest.raises(InputError, match=rf"g\.csv: line {line}: an empty name"):
        convert([tmp_path / "g.csv"], options=AS_NAMES)
    (tmp_path / "g.csv.gz").write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match=rf"g\.csv\.gz: line {line}: an empty name"):
        convert([tmp_path / "g.csv.gz"], options=AS_NAMES)
    monkeypatch.setattr(csvfile, "_COUNTED", 0)
    with pytest.raises(InputError, match=r"g\.csv: record \d+ after the header: an empty name"):
        convert([tmp_path / "g.csv"], options=AS_NAMES)
