"""Edge list -> graph file: number the vertices, build the CSR, order, write, cache.

The names load on first use: who only starts ranks needs none of it.
"""

from importlib import import_module

TYPE_CHECKING = False  # typing's, without the ten milliseconds that importing typing takes
if TYPE_CHECKING:  # what __getattr__ serves, for readers of types
    from bigbfs.conversion.cache import ensure_compressed as ensure_compressed
    from bigbfs.conversion.options import ConvertOptions as ConvertOptions
    from bigbfs.conversion.pipeline import convert as convert
    from bigbfs.conversion.report import ConvertReport as ConvertReport

_HOMES = {
    "ConvertOptions": "bigbfs.conversion.options",
    "ConvertReport": "bigbfs.conversion.report",
    "convert": "bigbfs.conversion.pipeline",
    "ensure_compressed": "bigbfs.conversion.cache",
}

__all__ = ["ConvertOptions", "ConvertReport", "convert", "ensure_compressed"]


def __getattr__(name: str) -> object:
    """Load a name on first use (PEP 562)."""
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value
