"""``python -m bigbfs`` is ``bigbfs``."""

from bigbfs.cli.main import main

main()
