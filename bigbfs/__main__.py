"""``bigbfs`` and ``python -m bigbfs``: the command line, all of whose imports may be interrupted already."""

from typing import NoReturn

from bigbfs.cli import interrupts


def run() -> int:
    """Run the command line and return its exit code."""
    from bigbfs.cli import main

    return main.run()


def main() -> NoReturn:
    """Console script: run and exit."""
    raise SystemExit(interrupts.guarded(run))


if __name__ == "__main__":
    main()
