"""Where the rows of a bench go while it runs: to a file at once, to the report at the end, whatever ends it."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import TextIO

import click

from bigbfs.cli.outputs import check_output
from bigbfs.errors import BigBfsError, UsageError
from bigbfs.formats.atomic import access_error
from bigbfs.formats.ours import ROWS
from bigbfs.report.rows import GraphFacts, Record, Row, Session, line_of
from bigbfs.sizes import counted


class Writer:
    """Takes rows; a context manager that makes the report of what is there, also after an interrupt or an error.

    Parameters
    ----------
    output
        JSON lines; written as they come, None: nowhere.
    report
        HTML; None: none.
    force
        Also replace files that bigbfs did not write.

    Raises
    ------
    FileAccessError
        One of them cannot be written.
    UsageError
        The extra ``report`` is not installed, both are the same file, or one is somebody else's.
    """

    def __init__(self, output: Path | None, report: Path | None, force: bool = False) -> None:
        self.record = Record()
        self._output, self._report = output, report
        self._stream: TextIO | None = None
        self._waiting: list[Session | GraphFacts | Row] = []
        check_output(output, "output", force, ROWS)
        check_output(report, "report", force)
        if report is not None:
            from bigbfs.report.page import require_extra

            require_extra()
        if output is not None and report is not None and output.resolve() == report.resolve():
            raise UsageError(f"--output and --report both name {output}; give each its own file")

    def add(self, item: Session | GraphFacts | Row) -> None:
        """Keep ``item``, on the disk too: from the first row on, which takes the place of an earlier run."""
        self.record.add(item)
        if self._output is None:
            return
        self._waiting.append(item)
        if not self.record.rows:
            return
        try:
            if self._stream is None:
                self._stream = self._output.open("w", encoding="utf-8")
            self._stream.writelines(line_of(each) + "\n" for each in self._waiting)
            self._stream.flush()
            self._waiting.clear()
        except OSError as error:
            raise access_error(self._output, error, "write") from error

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stream is not None:
            self._stream.close()
        if error is not None and self.record.rows:
            self.record.notes.append("This run ended early; the report is made of the rows so far.")
        if self._report is not None and self.record.rows:
            self._write_report(self._report, failed=error is not None)
        if error is not None and self.record.rows:
            rows = counted(len(self.record.rows), "row so far is", "rows so far are")
            kept = [str(path) for path in (self._output, self._report) if path is not None]
            click.echo(f"note: {rows} in {' and '.join(kept) or 'no file'}", err=True)

    def _write_report(self, path: Path, *, failed: bool) -> None:
        """Write the report; a failure of it must not hide what ended the run."""
        from bigbfs.report.page import write_page

        try:
            write_page(self.record, path)
        except BigBfsError as error:
            if not failed:
                raise
            click.echo(f"note: no report: {error}", err=True)
