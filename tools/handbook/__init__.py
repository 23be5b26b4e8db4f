"""What the documentation site is built with, beside Zensical: the reference of the commands, and docstrings."""
