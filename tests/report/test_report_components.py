"""The histogram of component sizes."""

import numpy as np

from bigbfs.report.components import SizeClass, size_histogram


def test_every_size_falls_into_the_class_of_its_bits():
    sizes = [1, 1, 2, 3, 4, 7, 8, 1023, 1024]
    labels = np.repeat(np.concatenate([[0], np.cumsum(sizes)[:-1]]), sizes)
    assert size_histogram(labels) == [
        SizeClass(1, 1, 2, 2),
        SizeClass(2, 3, 2, 5),
        SizeClass(4, 7, 2, 11),
        SizeClass(8, 15, 1, 8),
        SizeClass(512, 1023, 1, 1023),
        SizeClass(1024, 2047, 1, 1024),
    ]


def test_no_vertices():
    assert size_histogram(np.empty(0, np.int64)) == []
