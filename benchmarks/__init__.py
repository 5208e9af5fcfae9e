"""Ours beside each installed peer, in one run: ``python -m benchmarks --help``."""
