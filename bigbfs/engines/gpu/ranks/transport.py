"""What carries words between GPUs that do not write into one another's memory: the host's group, or NCCL.

====== ===============================================================================================
name   how
====== ===============================================================================================
peers  kernels store into the others' memory (:mod:`.memory`): one machine; nothing here is needed
nccl   from device to device, by NCCL (:mod:`.nccl`): every rank has it, and a GPU of its own
mpi    by way of pinned memory and the group of the hosts (MPI): always
====== ===============================================================================================

A transport has two calls, which all ranks make alike. What one has sent counts as traffic of the group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from bigbfs.engines.gpu.ranks import nccl
from bigbfs.engines.gpu.runtime.runtime import Array, Runtime
from bigbfs.engines.ranks.group import ALIGNED, Group
from bigbfs.errors import UsageError

TRANSPORTS = ("auto", "peers", "nccl", "mpi")

EXCHANGES = ("auto", "list", "bitmap")
"""How ranks may tell one another what is visited where their hosts run the levels."""


class Transport(Protocol):
    """Carries device memory between the ranks; arrays are of one dimension, in device memory, contiguous."""

    name: str

    def gather(self, parts: Sequence[Array]) -> None:
        """Fill the parts of the other ranks with what they have in theirs, in launch order: part r is rank r's.

        Parts have the same length on all ranks.
        """

    def exchange(self, out: Sequence[Sequence[Array]], into: Sequence[Sequence[Array]], most: int) -> None:
        """Send the arrays ``out[r]`` to rank r, which has them in ``into`` of this rank, in launch order.

        ``most``, the same on all ranks: bytes of the largest ``out[r]`` of any. Nothing goes to oneself.
        """

    def close(self) -> None:
        """Release what it holds; all ranks make this call."""


class HostTransport:
    """Through pinned memory, and the hosts' group.

    Parameters
    ----------
    runtime, group
        The device, and the ranks.
    nbytes
        Bytes that a rank sends at most in one call, and that come in at most.
    """

    name = "mpi"

    def __init__(self, runtime: Runtime, group: Group, nbytes: int) -> None:
        self._runtime, self._group = runtime, group
        self._out, self._into = (runtime.pinned(size) for size in staging(group.size, nbytes))

    def gather(self, parts: Sequence[Array]) -> None:
        """See ``Transport``."""
        group, mine = self._group, parts[self._group.rank]
        host = self._out.host[: mine.nbytes]
        self._read(mine, host)
        lengths = [int(part.nbytes) for part in parts]
        sent = [host if rank != group.rank else host[:0] for rank in range(group.size)]
        lengths[group.rank] = 0
        received = group.exchange_known(sent, lengths, max(int(part.nbytes) for part in parts), self._into.host)
        for rank, (part, found) in enumerate(zip(parts, received, strict=True)):
            if rank != group.rank:
                self._write(part, found)

    def exchange(self, out: Sequence[Sequence[Array]], into: Sequence[Sequence[Array]], most: int) -> None:
        """See ``Transport``."""
        group, sent, end = self._group, [], 0
        for rank, arrays in enumerate(out):
            start = end
            for array in arrays if rank != group.rank else ():
                self._read(array, self._out.host[end : end + array.nbytes])
                end += int(array.nbytes)
            sent.append(self._out.host[start:end])
        lengths = [sum(int(array.nbytes) for array in arrays) for arrays in into]
        lengths[group.rank] = 0
        received = group.exchange_known(sent, lengths, most, self._into.host)
        for rank, (arrays, found) in enumerate(zip(into, received, strict=True)):
            start = 0
            for array in arrays if rank != group.rank else ():
                self._write(array, found[start : start + array.nbytes])
                start += int(array.nbytes)

    def _read(self, array: Array, host: np.ndarray) -> None:
        if array.nbytes:
            self._runtime.read(array, host.view(array.dtype))

    def _write(self, array: Array, host: np.ndarray) -> None:
        if array.nbytes:
            self._runtime.write(array, host.view(array.dtype))

    def close(self) -> None:
        """Give the pinned memory back."""
        self._out.close()
        self._into.close()


def staging(size: int, nbytes: int) -> tuple[int, int]:
    """Return the bytes of pinned memory of one of ``size`` ranks for what it sends, and for what comes in."""
    return nbytes, nbytes + ALIGNED * size


def form_of(asked: str, exchange: str, group: Group, residency: str = "auto") -> str:
    """Return which form of a program runs: ``"peers"``, all levels on the devices, or ``"hosts"``, which run them;
    ``"streamed"``: they do, and own rows are read from the file.

    Raises
    ------
    UsageError
        There is no such transport or exchange, or ranks cannot use it, whatever their GPUs are.
    """
    if asked not in TRANSPORTS:
        raise UsageError(f"{asked!r} is unknown: choose one of {', '.join(TRANSPORTS)}", about=(("transport", asked),))
    if asked == "peers" and not group.one_host:
        hosts = ", ".join(dict.fromkeys(group.hosts))
        raise UsageError(
            f"GPUs of several machines ({hosts}) cannot store into one another's memory",
            about=(("transport", asked),),
            remedies=(("transport", "auto", "use {}"),),
        )
    if residency == "streamed":
        _require_streamed(asked, exchange)
        return residency
    form = "peers" if asked == "peers" or (asked == "auto" and group.one_host) else "hosts"
    kinds = EXCHANGES if form == "hosts" else EXCHANGES[:1]
    if exchange not in kinds:
        raise UsageError(
            "GPUs that store into one another's memory choose for themselves"
            if form == "peers"
            else f"GPUs tell one another by {' or '.join(kinds[1:])}",
            about=(("exchange", exchange),),
            remedies=(("exchange", "auto", "use {}"),),
        )
    return form


def _require_streamed(asked: str, exchange: str) -> None:
    """Refuse what does not go with rows that are read from the file: hosts run the levels, and tell all in one way."""
    if asked == "peers":
        raise UsageError(
            "levels whose rows come from the file are run by hosts, which tell one another by NCCL or MPI",
            about=(("transport", asked),),
            remedies=(("transport", "auto", "use {}"),),
        )
    if exchange != "auto":
        raise UsageError(
            "GPUs whose rows come from the file have one way to tell what is visited",
            about=(("exchange", exchange),),
            remedies=(("exchange", "auto", "use {}"),),
        )


def require_form(work: Any, form: str) -> None:
    """Refuse work that has no form over several GPUs: ``"peers"``, ``"hosts"`` (:func:`form_of`), or
    ``"streamed"``.

    Raises
    ------
    UsageError
        Names it.
    """
    if form not in work.programs:
        others = ", or ranks on CPUs" if "ranks" in work.programs else ""
        raise UsageError(f"{work.called} does not run on several GPUs; take one{others}")
    work.require_peers()


def without_nccl(asked: str, group: Group, form: str = "auto") -> str:
    """Return the transport for one that :func:`form_of` has accepted where it is not known whether ranks have NCCL:
    what takes most memory of those it might be. No other rank is asked; ``form`` as of :func:`choose`."""
    if asked != "auto":
        return asked
    return "peers" if group.one_host and form != "streamed" else "mpi"


def choose(asked: str, group: Group, runtime: Runtime, form: str = "auto") -> str:
    """Return the transport for one that :func:`form_of` has accepted; all ranks make this call.

    ``form``: what that has said; where it is ``"streamed"``, nobody is for peers.

    Raises
    ------
    UsageError
        NCCL is asked for, and a rank cannot use it.
    """
    found = without_nccl(asked, group, form)
    if asked == "mpi" or found == "peers":
        return found
    places = group.objects((group.machines[group.rank], runtime.place))
    lack = next((said for said in group.objects(_lack(group, places)) if said is not None), None)
    if lack is None:
        return "nccl"
    if asked == "auto":
        return "mpi"
    raise UsageError(lack, about=(("transport", asked),), remedies=(("transport", "mpi", "use {}"),))


def _lack(group: Group, places: Sequence[tuple[int, str]]) -> str | None:
    """Return why this rank, whose GPU is in one of ``places`` (machine, PCI bus id), cannot use NCCL; None: it can."""
    first = places.index(places[group.rank])
    if first != group.rank:
        return f"ranks {first} and {group.rank} share GPU {places[first][1]}, and NCCL wants one for each"
    why = nccl.lack()
    return None if why is None else f"rank {group.rank} (host {group.host}) has no NCCL: {why}"


def made(name: str, runtime: Runtime, group: Group, nbytes: int, patience: float) -> Transport:
    """Return the transport ``name``, for calls that send up to ``nbytes``; all ranks make this call.

    Raises
    ------
    DoesNotFitError
        There is no pinned memory for it.
    DeviceError
        NCCL does not start, or does not answer.
    """
    if name != "nccl":
        return HostTransport(runtime, group, nbytes)
    transport = nccl.NcclTransport(runtime, group, patience)
    transport.connect()
    return transport
