"""A sample of the ids in all inputs of a conversion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bigbfs.formats.readers import read


def sample_ids(inputs: Sequence[str | Path]) -> np.ndarray:
    """Return ids (uint64, ascending) from places all over the inputs; from their beginning where they are compressed.

    What gives no ids cheaply gives none; nothing depends on them but the balance of the partitions.
    """
    return np.sort(np.concatenate([np.empty(0, np.uint64), *map(read.sample_ids, inputs)]))
