"""Compare the machine code of every kernel with that of another checkout: a change that moves files changes no kernel.

In: this checkout, another one, NVRTC; no GPU. Out: for each kernel of both whether its code (the .text section of the
cubin) is the same in every variant (id width, encoding), else the bytes of both; then the kernels that only one has.
Where the code is the same, no time on a GPU can have changed but by what launches it.
Exit code 0: all of both are the same; 1: some differ; 4: NVRTC is not installed.

    python tools/same_machine_code.py ../other-checkout [--arch 90]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import struct
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
INSIDE = "--inside"
Codes = dict[str, dict[str, list[str]]]
"""Kernel -> id width and encoding -> "bytes hash" of its code in each variant, sorted."""


def text_sections(cubin: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield kernel and machine code of an ELF image (System V ABI, 64 bits: headers of 64 bytes)."""
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", cubin, 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", cubin, table + number * size) for number in range(count)]
    names = headers[names_at][4]
    for name_at, _, _, _, offset, length in headers:
        end = cubin.index(b"\0", names + name_at)
        name = cubin[names + name_at : end].decode()
        if name.startswith(".text."):
            yield name.removeprefix(".text."), cubin[offset : offset + length]


def codes_here(arch: int) -> Codes:
    """Compile every kernel of the checkout whose tools/ come first on the path."""
    import compile_kernels
    import numpy as np
    from cupy.cuda.compiler import _NVRTCProgram as Program

    compiled: list[bytes] = []
    plainly = Program.compile

    def kept(self, *arguments, **named):
        result = plainly(self, *arguments, **named)
        compiled.append(result[0] if isinstance(result, tuple) else result)
        return result

    Program.compile = kept
    found: Codes = defaultdict(dict)
    for file in compile_kernels.files():
        for ids in (np.uint32, np.uint64):
            for codec in ("plain", "varint"):
                compiled.clear()
                compile_kernels.compile_kernel(file, arch, ids, codec)
                for kernel, code in (part for cubin in compiled for part in text_sections(cubin)):
                    said = f"{len(code)} {hashlib.sha256(code).hexdigest()[:16]}"
                    variants = found[kernel].setdefault(f"{ids.__name__} {codec}", [])
                    variants[:] = sorted({*variants, said})
    return found


def _codes_of(checkout: Path, arch: int) -> Codes:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, (checkout / "tools", checkout)))}
    command = [sys.executable, "-P", __file__, str(checkout), "--arch", str(arch), INSIDE]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{checkout}: {done.stderr.strip().splitlines()[-1]}")
    codes: Codes = json.loads(done.stdout)
    return codes


def compared(here: Codes, other: Codes) -> tuple[list[str], list[str], list[str]]:
    """Return the lines for kernels that are the same, for those that differ, and for those of one side alone."""
    same, differ = [], []
    for kernel in sorted(here.keys() & other.keys()):
        changed = [variant for variant in here[kernel] if here[kernel][variant] != other[kernel].get(variant)]
        if not changed:
            same.append(f"{kernel}: {len(here[kernel])} variants")
        for variant in changed:
            differ.append(f"{kernel}, {variant}: {here[kernel][variant]} here, {other[kernel].get(variant)} there")
    alone = [f"{kernel}: only here" for kernel in sorted(here.keys() - other.keys())]
    alone += [f"{kernel}: only there" for kernel in sorted(other.keys() - here.keys())]
    return same, differ, alone


def main() -> int:
    """Compare and print; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("other", type=Path)
    parser.add_argument("--arch", type=int, default=90, help="compute capability without the dot")
    parser.add_argument(INSIDE, action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        from cupy.cuda import nvrtc

        nvrtc.getVersion()
    except (ImportError, RuntimeError) as error:
        print(f"NVRTC is not installed: {error}", file=sys.stderr)
        return 4
    if options.inside:
        print(json.dumps(codes_here(options.arch)))
        return 0
    same, differ, alone = compared(
        _codes_of(REPOSITORY, options.arch), _codes_of(options.other.resolve(), options.arch)
    )
    print(f"{len(same)} kernels with the same machine code (sm_{options.arch}):", *same, sep="\n  ")
    print(f"{len(differ)} variants differ{':' if differ else ''}", *differ, sep="\n  ")
    print(f"{len(alone)} kernels on one side alone{':' if alone else ''}", *alone, sep="\n  ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
