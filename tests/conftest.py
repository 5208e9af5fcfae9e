"""Settings of every test run, set before anything of the package is imported."""

import os

# Uop graphs are checked against their specs at every pass boundary, in child processes too.
os.environ.setdefault("DYNAMIS_VERIFY", "1")
# Nothing is taken from, or left in, the disk cache: every test compiles what it runs. Tests of the
# cache name a folder of their own.
os.environ["DYNAMIS_CACHE"] = "off"
