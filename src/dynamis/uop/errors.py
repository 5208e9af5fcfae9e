"""The errors of the uop layer. All of them are `UopError`s, and so `ValueError`s."""

from dynamis.errors import DynamisError


class UopError(DynamisError, ValueError):
    """A node, payload or analysis was asked for something its contract rules out."""


class UopNotFound(UopError, KeyError):
    """A name that had to be looked up is not there."""

    def __str__(self) -> str:
        return ValueError.__str__(self)  # KeyError would print the repr of the message


class RewriteError(UopError):
    """A rewrite came back to a node it was already rewriting, or never settled."""


class SpecError(UopError):
    """A node broke a rule of the stage it was checked for."""


class BottomUpGate(Exception):  # the contract's name; a signal, not an error
    """Raised by a pre-matcher to keep the node as it is: no children, no post-matcher."""


class ImportGraphError(UopError):
    """Bytes that should hold an exported graph do not."""
