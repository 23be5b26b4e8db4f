"""Shares of what there is to do, as ``--share I/K`` names one: of the tests, and of what ``make kernels`` compiles."""

from __future__ import annotations

import argparse


def share_of(text: str) -> tuple[int, int]:
    """Return the number of a share and how many there are, of ``"2/3"``; for the options of a command line.

    Raises
    ------
    argparse.ArgumentTypeError
        It says something else, or there is no such share.
    """
    number, slash, shares = text.partition("/")
    if not (slash and number.isdecimal() and shares.isdecimal() and 1 <= int(number) <= int(shares)):
        raise argparse.ArgumentTypeError(f"{text}: not the number of a share and how many there are, as in 1/2")
    return int(number), int(shares)
