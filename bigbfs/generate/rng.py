"""Counter-based random numbers: each item of a graph owns a stream that is a function of the seed and its index.

So the same seed gives the same graph whatever the machine, the number of threads and the order of the work. A stream
is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014) started at a hash of
(key, index); only integer arithmetic is used. Also random permutations of 0..n-1 that need no table.
"""

from __future__ import annotations

import numpy as np

from bigbfs.jit.njit import njit

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
ROUNDS = 3


@njit(cache=True, nogil=True, inline="always")
def mix(z):
    """Return the SplitMix64 hash of the uint64 ``z``."""
    z = (z ^ (z >> np.uint64(30))) * _FIRST
    z = (z ^ (z >> np.uint64(27))) * _SECOND
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True, inline="always")
def stream(key, index):
    """Return the state of the stream that item ``index`` (uint64) owns under ``key`` (uint64)."""
    return mix(key + (index + np.uint64(1)) * _GOLDEN)


@njit(cache=True, nogil=True, inline="always")
def draw(state, counter):
    """Return number ``counter`` (uint64) of a stream: 64 random bits."""
    return mix(state + (counter + np.uint64(1)) * _GOLDEN)


@njit(cache=True, nogil=True, inline="always")
def below(bits, limit):
    """Map 64 random ``bits`` to 0..limit-1 (uint64): the high half of their 128-bit product."""
    high, low = bits >> _32, bits & _LOW
    upper, lower = limit >> _32, limit & _LOW
    middle = high * lower + ((low * lower) >> _32)
    other = low * upper + (middle & _LOW)
    return high * upper + (middle >> _32) + (other >> _32)


@njit(cache=True, nogil=True, inline="always")
def permuted(value, n, bits, key):
    """Return where the permutation of 0..n-1 that belongs to ``key`` sends ``value``; ``2**bits >= n`` (all uint64).

    Rounds of odd multiplications and shifts permute 0..2**bits-1; from a value outside they are repeated until the
    way leads back inside, which is again a permutation.
    """
    mask = (np.uint64(1) << bits) - np.uint64(1)
    shift = (bits + np.uint64(1)) >> np.uint64(1)
    while True:
        for number in range(ROUNDS):
            word = draw(key, np.uint64(number))
            value = (value * (word | np.uint64(1)) + (word >> _32)) & mask
            value ^= value >> shift
        if value < n:
            return value


def make_key(seed: int, purpose: int) -> np.uint64:
    """Return the key of one ``purpose`` (a small number) of a graph with this ``seed``."""
    mask = 2**64 - 1
    state = seed & mask
    for word in (purpose + 1, seed >> 64):
        state = _mix((state + word * int(_GOLDEN)) & mask)
    return np.uint64(state)


def _mix(z: int) -> int:
    """Hash like :func:`mix`, in Python's integers."""
    mask = 2**64 - 1
    z = ((z ^ (z >> 30)) * int(_FIRST)) & mask
    z = ((z ^ (z >> 27)) * int(_SECOND)) & mask
    return z ^ (z >> 31)


def threshold(probability: float) -> np.uint64:
    """Return the number of 32-bit words that count as a hit of ``probability``."""
    return np.uint64(int(probability * 2.0**32))
