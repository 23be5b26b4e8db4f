"""What a rank has finished, for a run that comes after one that was killed: a manifest for each phase, and its files.

They lie in the rank's temporary folder (:class:`bigbfs.conversion.on_disk.scratch.Scratch`). A manifest is JSON: whose
it is (inputs, options, output, ranks, version), which rank's, the run that wrote it, the phase, what was found, and
the files with sizes and sums; then the hash of all that. It is written when its files are complete, and those of the
phase before go when every rank has written it. So of the folders that a run leaves behind, however it ends, all ranks
have a phase in common, or some rank has none yet. Nothing is taken up that is not whole.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bigbfs.conversion.on_disk import kernels
from bigbfs.conversion.on_disk.scratch import KEPT, PREFIX, Scratch, manifests, remove_kept
from bigbfs.engines.ranks.agreeing import together
from bigbfs.engines.ranks.group import Group
from bigbfs.graph.views import frozen
from bigbfs.sizes import counted, format_size

PHASES = ("read", "numbered", "sorted")
"""What is kept: pairs by partition; these with values numbered, where no table holds the ids; sorted rows."""

DONE = {"read": "its inputs are read", "numbered": "its ids are numbered", "sorted": "its rows are sorted"}

Files = dict[str, np.ndarray]

STRETCH = 1 << 20
"""Bytes of a file that are added up at once: they stay in cache."""

VERSION = 1
"""Of what manifests say: one of another version is not taken up."""


def whose(sources: Any, options: dict[str, Any], output: Path, codecs: list[str], size: int) -> dict[str, Any]:
    """Return what a run must have in common with the one that it takes up, as JSON has it."""
    made = {"sources": sources, "options": options, "output": str(output), "codecs": codecs, "ranks": size}
    return dict(json.loads(json.dumps(made | {"version": VERSION})))


@dataclass
class Checkpoint:
    """What a rank keeps, or has taken up.

    Attributes
    ----------
    scratch
        Its folder.
    phase, state
        What was finished by the run that is taken up, and found; None and empty of a new one.
    kept
        Bytes of files taken up, of all ranks.
    notes
        What there is to say of it.
    on
        Whether phases are kept from here on.
    """

    scratch: Scratch
    whose: dict[str, Any]
    run: str
    rank: int
    phase: str | None = None
    state: dict[str, Any] = field(default_factory=dict)
    kept: int = 0
    notes: list[str] = field(default_factory=list)
    on: bool = True

    def keep(self, phase: str, state: dict[str, Any], files: Files, group: Group) -> None:
        """Keep a phase, all ranks together, and let go of the one before; ``files``: names and sums.

        Raises
        ------
        Agreed
            The manifest cannot be written.
        """
        if not self.on:
            return
        together(group, lambda: self._write(phase, state, files))
        for manifest in manifests(self.scratch.folder):
            if manifest.name != phase + KEPT:
                manifest.unlink(missing_ok=True)
        self.leave_only(set(files))

    def _write(self, phase: str, state: dict[str, Any], files: Files) -> None:
        folder, path = self.scratch.folder, self.scratch.folder / (phase + KEPT)
        try:
            sizes = {name: [(folder / name).stat().st_size, sums.tolist()] for name, sums in files.items()}
            content = {"whose": self.whose, "rank": self.rank, "run": self.run, "phase": phase}
            content |= {"state": state, "files": sizes}
            part = path.with_suffix(".part")
            part.write_bytes(json.dumps(content | {"sum": _hash(content)}).encode())
            part.replace(path)
        except OSError as error:
            raise self.scratch.error(error) from error

    def stop(self) -> None:
        """Keep nothing from here on: files go as they are read."""
        self.on = False
        for manifest in manifests(self.scratch.folder):
            manifest.unlink(missing_ok=True)

    def leave_only(self, names: set[str]) -> None:
        """Remove all files but those named, and manifests."""
        for path in self.scratch.folder.iterdir():
            if path.name not in names and not path.name.endswith(KEPT):
                path.unlink(missing_ok=True)


def checkpoint_of(place: Path, mine: dict[str, Any], group: Group, stack: ExitStack) -> Checkpoint:
    """Return what all ranks take up of a run that was killed, or a new folder for each.

    ``stack`` removes the folder at its end. What other runs to the same output have left goes.

    Raises
    ------
    Agreed
        No folder can be made.
    """
    there, why = together(group, lambda: _look(place, mine, group.rank))
    told = group.objects(({run: sorted(phases) for run, (_, phases) in there.items()}, why))
    common = {
        (max(same, key=PHASES.index), run)
        for run in told[0][0]
        if (same := set.intersection(*(set(runs.get(run, ())) for runs, _ in told)))
    }
    phase, run = max(common, key=lambda each: (PHASES.index(each[0]), each[1]), default=(None, ""))
    for each, (scratch, _) in there.items():
        if each != run:
            scratch.close()
    group.barrier()  # what is taken up is held by now
    notes = [said for _, said in told if said][:1] if phase is None else []
    together(group, lambda: remove_kept(place, Path(mine["output"])))
    if phase is None:
        scratch = together(group, lambda: stack.enter_context(Scratch(place, output=Path(mine["output"]))))
        run = group.objects(secrets.token_hex(8))[0]
        return Checkpoint(scratch, mine, run, group.rank, notes=notes)
    scratch, phases = there[run]
    stack.enter_context(scratch)
    manifest = phases[phase]
    found = Checkpoint(scratch, mine, run, group.rank, phase, manifest["state"])
    for path in manifests(scratch.folder):
        if path.name != phase + KEPT:
            path.unlink()
    found.leave_only(set(manifest["files"]))
    scratch.written = sum(size for size, _ in manifest["files"].values())
    found.kept = int(group.sum([scratch.written])[0])
    what = counted(int(group.sum([len(manifest["files"])])[0]), "temporary file")
    found.notes.append(
        f"takes up a run that was killed: {DONE[phase]}, and not again ({what}, {format_size(found.kept)})"
    )
    return found


def _look(place: Path, mine: dict[str, Any], rank: int) -> tuple[dict[str, tuple[Scratch, dict[str, Any]]], str]:
    """Return what lies there for this rank, by run: the folder, and manifests by phase; and why there is nothing."""
    found: dict[str, tuple[Scratch, dict[str, Any]]] = {}
    why = ""
    for folder in sorted(place.glob(PREFIX + "*")) if place.is_dir() else []:
        phases: dict[str, Any] = {}
        for path in manifests(folder):
            manifest = _read(path)
            theirs = {} if manifest is None else manifest["whose"]
            if manifest is None and not path.exists():
                continue  # another run has just removed it
            if manifest is None:
                why = why or f"begins anew: {path} is damaged"
            elif theirs.get("output") != mine["output"]:
                continue
            elif theirs != mine:
                why = why or f"begins anew: {_difference(theirs, mine)}"
            elif manifest["rank"] == rank:
                phases[manifest["phase"]] = manifest
        if not phases or (scratch := Scratch.taken(folder, Path(mine["output"]))) is None:
            continue
        for phase, manifest in list(phases.items()):
            damaged = next((name for name in manifest["files"] if not _is_whole(folder, manifest, name)), None)
            if damaged is not None:
                why = f"begins anew: {folder / damaged}, which a run that was killed has left, is damaged"
                del phases[phase]
        if phases:
            found[next(iter(phases.values()))["run"]] = scratch, phases
        else:
            scratch.close()
    return found, why


def _difference(theirs: dict[str, Any], mine: dict[str, Any]) -> str:
    if theirs.get("ranks") != mine["ranks"] and {**theirs, "ranks": mine["ranks"]} == mine:
        there = counted(int(theirs.get("ranks", 0)), "rank")
        return (
            f"what a run that was killed has left is of {there}, here are {mine['ranks']}; with {there} it is taken up"
        )
    return "what a run that was killed has left is of other inputs or options"


def _read(path: Path) -> dict[str, Any] | None:
    """Return a manifest, None for one that is damaged or of somebody else."""
    try:
        if path.parent.stat().st_uid != os.getuid():
            return None
        manifest = json.loads(path.read_bytes())
        said = manifest.pop("sum")
        return manifest if said == _hash(manifest) else None
    except (OSError, ValueError, KeyError, AttributeError):
        return None


def _hash(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _is_whole(folder: Path, manifest: dict[str, Any], name: str) -> bool:
    """Return whether a file is as long as it was, and has its sums."""
    size, sums = manifest["files"][name]
    try:
        return (folder / name).stat().st_size == size and sums_of(folder / name).tolist() == sums
    except OSError:
        return False


def sums_of(path: Path) -> np.ndarray:
    """Return the sums of a file (:func:`bigbfs.conversion.on_disk.kernels.add_up`), filled up with zeros to words."""
    sums, memory = np.zeros(2, np.uint64), np.zeros(STRETCH // 8, np.uint64)
    data = memory.data.cast("B")
    with path.open("rb", buffering=0) as stream:
        while got := stream.readinto(data) or 0:
            data[got : -(-got // 8) * 8] = bytes(-got % 8)
            kernels.add_up(frozen(memory[: -(-got // 8)]), sums)
    return sums
