"""Edge list -> graph file: number the vertices, build the CSR, order, write, cache."""

from __future__ import annotations

from bigbfs.conversion.cache import ensure_compressed
from bigbfs.conversion.options import ConvertOptions
from bigbfs.conversion.pipeline import convert
from bigbfs.conversion.report import ConvertReport

__all__ = ["ConvertOptions", "ConvertReport", "convert", "ensure_compressed"]
