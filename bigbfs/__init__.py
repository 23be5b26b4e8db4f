"""Breadth-first search and connected components on graphs larger than GPU memory.

The public names load on first use, so that ``import bigbfs`` and ``bigbfs --help`` import neither NumPy nor
Numba, and nothing here ever imports CuPy.

Examples
--------
>>> import bigbfs
>>> graph = bigbfs.Graph.from_csr([0, 1, 2], [1, 0])
>>> bigbfs.bfs(graph, 0, backend="cpu").levels.tolist()
[0, 1]
"""

from importlib import import_module

from bigbfs.graph import files

TYPE_CHECKING = False  # typing's, without the ten milliseconds that importing typing takes
if TYPE_CHECKING:  # what __getattr__ serves, for readers of types
    from bigbfs.algorithms.ranked_engine import ranks as ranks
    from bigbfs.api import bfs as bfs
    from bigbfs.api import connected_components as connected_components
    from bigbfs.api import engine as engine
    from bigbfs.api import topological_order as topological_order
    from bigbfs.api import topological_rounds as topological_rounds
    from bigbfs.conversion.keywords import convert as convert
    from bigbfs.errors import ArgumentError as ArgumentError
    from bigbfs.errors import BigBfsError as BigBfsError
    from bigbfs.errors import ConfigError as ConfigError
    from bigbfs.errors import DeviceError as DeviceError
    from bigbfs.errors import DoesNotFitError as DoesNotFitError
    from bigbfs.errors import FileAccessError as FileAccessError
    from bigbfs.errors import ForkError as ForkError
    from bigbfs.errors import FormatError as FormatError
    from bigbfs.errors import InputError as InputError
    from bigbfs.errors import NoDeviceError as NoDeviceError
    from bigbfs.errors import UsageError as UsageError
    from bigbfs.errors import VerificationError as VerificationError
    from bigbfs.formats.shards.join import join as join
    from bigbfs.formats.shards.split import split as split
    from bigbfs.graph import Graph as Graph
    from bigbfs.graph import open as open
    from bigbfs.measures.closeness import closeness as closeness
    from bigbfs.measures.distances import distances as distances
    from bigbfs.measures.eccentricity import diameter as diameter
    from bigbfs.measures.eccentricity import eccentricity as eccentricity
    from bigbfs.measures.hops import hops as hops
    from bigbfs.measures.paths import shortest_path as shortest_path
    from bigbfs.measures.paths import shortest_paths as shortest_paths

__version__ = "0.1.0"

_ERRORS = (
    *("BigBfsError", "ArgumentError", "ConfigError", "DeviceError", "DoesNotFitError", "FileAccessError"),
    *("ForkError", "FormatError", "InputError", "NoDeviceError", "UsageError", "VerificationError"),
)
_HOMES = {
    "Graph": "bigbfs.graph",
    "open": "bigbfs.graph",
    "convert": "bigbfs.conversion.keywords",
    "engine": "bigbfs.api",
    "ranks": "bigbfs.algorithms.ranked_engine",
    "bfs": "bigbfs.api",
    "connected_components": "bigbfs.api",
    "topological_order": "bigbfs.api",
    "topological_rounds": "bigbfs.api",
    "split": "bigbfs.formats.shards.split",
    "join": "bigbfs.formats.shards.join",
    "distances": "bigbfs.measures.distances",
    "closeness": "bigbfs.measures.closeness",
    "hops": "bigbfs.measures.hops",
    "shortest_path": "bigbfs.measures.paths",
    "shortest_paths": "bigbfs.measures.paths",
    "diameter": "bigbfs.measures.eccentricity",
    "eccentricity": "bigbfs.measures.eccentricity",
} | dict.fromkeys(_ERRORS, "bigbfs.errors")

# formats know graphs, graphs know of no format: what opens and saves them is brought when it is wanted
files.kept_by(lambda: import_module("bigbfs.formats.container.csrbin"))
files.built_by(lambda: import_module("bigbfs.conversion.from_memory"))
__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604 - every name of _HOMES is served by __getattr__


def __getattr__(name: str) -> object:
    """Load a public name from its home module on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module 'bigbfs' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names, loaded or not."""
    return sorted(__all__)
