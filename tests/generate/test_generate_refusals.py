"""What a generator refuses, before anything is drawn."""

import pytest

from bigbfs import generate
from bigbfs.errors import DoesNotFitError, UsageError


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("cronecker", {}, "did you mean kronecker"),
        ("kronecker", {}, r"the size is missing: give scale=\.\.\. \(2\^scale vertices\)$"),
        ("kronecker", {"scale": 4, "vertices": 16}, "takes no vertices"),
        ("kronecker", {"scale": 41}, "between 0 and 40"),
        ("kronecker", {"scale": 4.5}, "whole number"),
        ("kronecker", {"scale": True}, "whole number"),
        ("kronecker", {"scale": "4"}, "whole number"),
        ("kronecker", {"scale": 4, "permute": 1}, "True or False"),
        ("kronecker", {"scale": 4, "seed": -1}, "seed"),
        ("kronecker", {"scale": 4, "order": "random"}, "order"),
        ("uniform", {}, r"the size is missing: give scale=\.\.\. \(2\^scale vertices\), or vertices=\.\.\.$"),
        ("grid3d", {}, r"give scale=.*, vertices=\.\.\., or layers=\.\.\. and the other sides$"),
        ("uniform", {"scale": 4, "vertices": 16}, "not both"),
        ("uniform", {"scale": 4, "edges": 5, "edge_factor": 1}, "not both"),
        ("uniform", {"scale": 4, "edge_factor": float("nan")}, "a number"),
        ("uniform", {"vertices": 0}, "1"),
        ("uniform", {"scale": 4, "edges": -1}, "edges=-1: must be between 0"),
        ("uniform", {"scale": 4, "edgefactor": 3}, "did you mean edge_factor"),
        ("rmat", {"scale": 4, "a": 0.5, "b": 0.3, "c": 0.3}, "sum up to 1"),
        ("rmat", {"vertices": 9, "a": 0.0, "b": 0.3, "c": 0.3}, "power of two"),
        ("grid2d", {"rows": 4}, "only rows given"),
        ("grid2d", {"rows": 4, "columns": 4, "vertices": 16}, "not both"),
        ("grid2d", {"rows": 2**30, "columns": 2**30}, "too large"),
        ("grid3d", {"rows": 4, "columns": 4}, "layers"),
        ("road", {"scale": 10, "degree": 4}, "between 2.0 and 3.0"),
        ("powerlaw", {"vertices": 100, "max_degree": 100}, "allow 99"),
        ("star", {"vertices": 1}, "at least 2"),
        ("star", {"vertices": 10, "edges": 8}, "at least 9"),
        ("star", {"vertices": 10, "hub_fraction": 10**400}, "between 0 and 1"),
        ("dag", {"vertices": 1, "edges": 1}, "cycle"),
    ],
)
def test_a_parameter_that_does_not_fit_is_refused(kind, given, message):
    with pytest.raises(UsageError, match=message):
        generate.graph(kind, **given)


def test_what_does_not_fit_memory_is_refused_before_it_starts():
    with pytest.raises(DoesNotFitError, match=r"1 GiB"):
        generate.generate("uniform", scale=23, memory=10**8)
    with pytest.raises(DoesNotFitError):
        generate.generate("kronecker", scale=40)
    with pytest.raises(DoesNotFitError):
        generate.generate("grid3d", vertices=10**8, memory=10**6)
