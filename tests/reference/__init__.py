"""The language reference in ``docs/reference/``, written from the tables of the Kernel IR."""
