"""Chosen columns of edge lists: between delimiters a field may be empty, hold blanks or be quoted."""

import csv
import io

import pytest
from formats.readers.test_text_kinds import pairs, read
from hypothesis import given
from hypothesis import strategies as st

from bigbfs.errors import InputError

CASES = [
    (b"w\tx\tsource\ttarget\tn\n7\t\t1\t2\t5\n8\t5\t3\t4\t6\n", None),
    (b"\tsource\ttarget\n0\t1\t2\n1\t3\t4\n", None),  # as pandas writes an index
    (b"when,source,target\n2019-01-01 10,1,2\n2019-01-02 11,3,4\n", None),
    (b"label\tsource\ttarget\n12 34\t1\t2\nx\t3\t4\n", None),
    (b"Departure time,source,target\n10 pm,1,2\n11 pm, 3 , 4\n", None),
    (b"\t1\t2\n\t3\t4\n", (2, 3)),
    (b'10 Main St,1,2\n"a,""b",3,\t4\r\n', (2, 3)),
    (b"12|a b|1|2\n|| 3 | 4 | 5 6\n", (3, 4)),
    (b"7;;1;2\n;;3;4\n", (3, 4)),
    (b"'tis,1,2,rock'n'roll,5,6\n',3,4\n", (2, 3)),  # an apostrophe is no quote there
    (b"7 8 1 2\n9  9\t3 4\n", (3, 4)),  # blanks alone: as many as one likes
]


@pytest.mark.parametrize(("text", "columns"), CASES)
def test_ids_come_from_the_columns_that_stand_there(tmp_path, text, columns):
    assert pairs(read(tmp_path / "g.csv", text, columns=columns)) == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        (b"x,,2\n", (2, 3)),
        (b"x,1 5,2\n", (2, 3)),
        (b"x\t1\n", (2, 3)),
        (b"1\t\t2\n1\t3\t\n", (1, 3)),
        (b"x,1\n", (2, 3)),
    ],
)
def test_an_id_that_is_empty_or_more_than_one_is_refused(tmp_path, text, columns):
    with pytest.raises(InputError, match=r"line \d"):
        read(tmp_path / "g.csv", b"a,1,2\n".replace(b",", b"\t" if b"\t" in text else b",") + text, columns=columns)


FIELDS = st.text(st.characters(codec="ascii", exclude_characters="\0\r\n"), max_size=6)
FIRST = FIELDS.filter(lambda text: not text.lstrip().startswith(("#", "%")))  # no comment


@given(st.lists(st.tuples(FIRST, st.integers(0, 999), FIELDS, st.integers(0, 999)), min_size=1, max_size=8))
def test_what_python_writes_as_csv_is_read_so(tmp_path_factory, rows):
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("note", "source", "more", "target"), *rows])
    found = read(tmp_path_factory.mktemp("csv") / "g.csv", text.getvalue().encode())
    assert pairs(found) == [(row[1], row[3]) for row in rows]


@pytest.mark.parametrize("text", [b"0.5 1 2\n", b"x,1,2\n", b"-1;1;2\n"])
def test_a_first_column_that_is_no_id_has_its_way_out(tmp_path, text):
    with pytest.raises(InputError, match=r"read the ids from the columns behind it with columns=\(2, 3\)"):
        read(tmp_path / "g.txt", text)
    assert pairs(read(tmp_path / "g.txt", text, columns=(2, 3))) == [(1, 2)]
