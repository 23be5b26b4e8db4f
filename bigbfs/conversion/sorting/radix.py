"""Sorting uint64 keys in a core's cache: by radix, and a few of them by insertion."""

from __future__ import annotations

import numpy as np

from bigbfs.jit.njit import njit

DIGIT = 11  # bits of a radix digit: 2048 counters of 8 bytes are 16 KiB, half of a first-level cache
SMALL = 48  # keys up to which insertion beats the counting sort


@njit(cache=True, nogil=True)
def insertion_sort(keys):
    """Sort a few keys in place."""
    for i in range(1, len(keys)):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@njit(cache=True, nogil=True)
def radix_sort(keys, spare, low, bits, digit_bits=DIGIT):
    """Sort by the bits ``low`` to ``low + bits``; return the array (of the two) that holds the result.

    Digits of fewer bits than ``DIGIT`` are for few keys, which are fewer than the counters.
    """
    passes = (bits + digit_bits - 1) // digit_bits
    bins = 1 << digit_bits
    counts = np.zeros((passes, bins), np.int64)
    bottom = np.uint64(bins - 1)
    for i in range(len(keys)):
        key = np.uint64(keys[i]) >> np.uint64(low)
        for digit in range(passes):
            counts[digit, key & bottom] += 1
            key >>= np.uint64(digit_bits)
    source, target = keys, spare
    for digit in range(passes):
        down = np.uint64(low + digit * digit_bits)
        places = counts[digit]
        if places[(source[0] >> down) & bottom] == len(keys):
            continue  # every key has the same digit
        total = 0
        for value in range(bins):
            here = places[value]
            places[value] = total
            total += here
        for i in range(len(keys)):
            key = source[i]
            value = (key >> down) & bottom
            target[places[value]] = key
            places[value] += 1
        source, target = target, source
    return source
