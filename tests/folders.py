"""What tests of files look at afterwards."""

from bigbfs.formats.container import check as checking


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def require_whole(path):
    """Everything that ``bigbfs check`` looks at holds."""
    assert list(checking.check(path))
