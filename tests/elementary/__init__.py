"""Tests of the elementary functions, and the tools that made and prove them."""
