"""The benchmark's rows: each kernel does the work that NumPy does beside it. Nothing is timed."""

from __future__ import annotations

import numpy as np
import pytest

import dynamis as dy
from benchmarks.peers import numpy as plain
from benchmarks.peers import ours
from benchmarks.rows import BY_NAME, ROWS, few_differ, ulps, within, within_ulps

EXACT = ("grayscale", "gaussian3", "convolve5", "mandelbrot", "raymarch", "median3")
"""Rows whose kernels round where NumPy rounds, so that the words are the same."""


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_agrees_with_numpy(row):
    lacking = [name for name in row.needs if not hasattr(dy, name)]
    if lacking:
        with pytest.raises(dy.KernelError, match=lacking[0]):
            ours.KERNELS[row.name].ir  # noqa: B018
        return
    data = row.data(row.tiny)
    mine, theirs = (peer.FORMS[row.name][""](data, 2) for peer in (ours, plain))
    mine.step()
    theirs.step()
    agreement = row.compare(theirs.result(), mine.result())
    assert agreement.ok, agreement.text
    if row.name in EXACT:
        assert agreement.text == "exact"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_every_row_is_done_by_numpy_and_by_ours(row):
    assert row.name in plain.FORMS
    assert row.name in ours.FORMS
    assert row.tiny < row.quick < row.full
    assert BY_NAME[row.name] is row


def test_ulps_count_steps_between_floats_across_zero():
    one = np.ones(3, np.float32)
    assert ulps(one, one) == 0
    assert ulps(one, np.nextafter(one, np.float32(2))) == 1
    tiny = np.array([1e-45], np.float32)
    assert ulps(-tiny, tiny) == 2
    assert ulps(np.array([-0.0], np.float32), np.array([0.0], np.float32)) == 0
    nan = np.array([np.nan], np.float32)
    assert ulps(nan, nan) == 0
    assert ulps(nan, one[:1]) > 1000


def test_comparisons_tell_other_work_from_other_rounding():
    ours_, near, far = (np.full(4, x, np.float32) for x in (1.0, 1.0000001, 2.0))
    for compare in (within_ulps(1), within(1e-6), few_differ(0.1, 1e-3)):
        assert compare(ours_, ours_).text == "exact"
        assert compare(near, ours_).ok
        assert not compare(far, ours_).ok
        assert not compare(far[:2], ours_).ok
