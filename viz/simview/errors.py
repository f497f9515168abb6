"""What can go wrong, each with the exit code of the command. A message is one line for the user."""

from __future__ import annotations


class SimviewError(Exception):
    """Any fault that simview reports."""

    exit_code = 70


class UsageError(SimviewError):
    """Something was asked for that makes no sense."""

    exit_code = 64


class DamagedError(SimviewError):
    """A file is cut short, damaged, or not laid out as sim writes it."""

    exit_code = 65


class NotFoundError(SimviewError):
    """No run, no snapshot, no table, species or field of that name."""

    exit_code = 66


class MissingToolError(SimviewError):
    """A program or package that is needed is not installed."""

    exit_code = 69


class CannotWriteError(SimviewError):
    """A picture or film cannot be written."""

    exit_code = 73
