"""The error of the dtype layer."""

from dynamis.errors import DynamisError


class DtypeError(DynamisError, ValueError):
    """A dtype was asked for something it does not have, or built out of range."""
