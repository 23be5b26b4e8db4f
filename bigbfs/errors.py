"""The errors that bigbfs raises, each with the exit code that the command line turns it into.

Every message names the file, the line or byte, the value, and the way out. Each class is also the built-in
exception that a caller of the Python interface would expect.
"""


class BigBfsError(Exception):
    """Base of all errors raised on purpose; ``exit_code`` is what the command line ends with."""

    exit_code = 1


class InputError(BigBfsError, ValueError):
    """The content of an input file is not what its format says (names file, line or byte, text)."""


class FormatError(BigBfsError, ValueError):
    """A graph file is not ours, cut short, corrupted or of a newer version."""


class FileAccessError(BigBfsError, OSError):
    """A file cannot be opened, read, written or renamed."""


class UsageError(BigBfsError, ValueError):
    """An option or argument has a value that cannot work (an unknown source vertex, say)."""

    exit_code = 2


class ConfigError(BigBfsError, ValueError):
    """A configuration file has an unknown key or a value of the wrong kind."""


class VerificationError(BigBfsError, RuntimeError):
    """A result differs from the reference or breaks a rule that every right result keeps."""

    exit_code = 3


class NoDeviceError(BigBfsError, RuntimeError):
    """There is no usable GPU; the message says which part is missing."""

    exit_code = 4


class DoesNotFitError(BigBfsError, MemoryError):
    """The work needs more memory than it may use; the message holds the ledger and the options that help."""

    exit_code = 5


class DeviceError(BigBfsError, RuntimeError):
    """A CUDA call or a kernel failed."""
