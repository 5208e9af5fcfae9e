"""Fuzzing of the Kernel IR: random valid modules, mutants of them, hostile texts, and what holds.

``python -m tests.fuzz`` runs as long as asked and prints its counts; ``test_slice.py`` runs a small
part of it, from a fixed seed, with every test run.
"""
