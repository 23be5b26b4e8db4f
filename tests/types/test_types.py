"""The public face as type checkers see it: marked as typed, and no keyword that the code does not take."""

import dataclasses
import inspect
from pathlib import Path

import bigbfs
from bigbfs import api
from bigbfs.conversion.keywords import ConvertKeywords
from bigbfs.conversion.options import ConvertOptions


def test_the_package_is_marked_as_typed():
    assert (Path(bigbfs.__file__).parent / "py.typed").is_file()


def test_convert_takes_the_fields_of_its_options():
    assert set(ConvertKeywords.__annotations__) == {field.name for field in dataclasses.fields(ConvertOptions)}


def test_a_place_is_what_engine_takes():
    taken = set(inspect.signature(api.engine).parameters)
    assert set(api.Place.__annotations__) == taken - {"graph", "strategy", "work"}


def test_the_sample_that_lint_reads_names_every_public_name():
    sample = (Path(__file__).parent / "typed_use.py").read_text(encoding="utf-8")
    assert [name for name in bigbfs.__all__ if f"bigbfs.{name}" not in sample] == []
