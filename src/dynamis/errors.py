"""The one base of every exception that Dynamis raises on purpose."""

from __future__ import annotations


class DynamisError(Exception):
    """Base of all errors of this package; its text is written for the person who made the call."""
