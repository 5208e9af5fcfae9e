"""The reference backend on arrays: words in, words out, faults and progress."""

from __future__ import annotations

import numpy as np

from dynamis.kernel import FaultKind, Type, Value, parse, validate
from dynamis.runtime.reference import ReferenceKernel, ReferenceSample

MODULE = """\
dynamis kernel ir 1
kernel ratio@1
  mode      map
  input     a: Rows<Int>
  input     f: Rows<Float>
  input     flags: Rows<Bool>
  param     by: Int = 1
  output    q: Rows<Int>
  output    g: Rows<Float>
  output    flag: Rows<Bool>
  requires  field.read
  budget    1048576
entry main() {
  %0: Int = sample 0
  %1: Int = param 0
  %2: Int = %0 / %1
  %3: Float = sample 1
  %4: Bool = sample 2
  %5: Bool = ! %4
  %6: Int = %1 / %0
  return %2, %3, %5
}
"""
KERNEL = ReferenceKernel(validate(parse(MODULE)))


def run(a, f, flags, by=1, progress=None):
    count = len(a)
    q, g, flag = np.zeros(count, np.int32), np.zeros(count, np.float32), np.zeros(count, np.uint8)
    inputs = [np.array(a, np.int32), np.array(f, np.float32), np.array(flags, np.uint8)]
    fault = KERNEL.run(inputs, [Value.of(Type.INT, by)], [q, g, flag], (count,), 1, progress)
    return fault, q, g, flag


def test_words_go_in_and_out_as_they_are():
    f = np.array([0x80000000, 0x00000001, 0x7F800000], np.uint32).view(np.float32)
    fault, q, g, flag = run([6, -7, 2**31 - 1], f, [0, 1, 1], by=2)
    assert fault is None
    assert q.tolist() == [3, -3, 2**30 - 1]
    assert g.tobytes() == f.tobytes()
    assert flag.tolist() == [1, 0, 0]


def test_every_stored_nan_is_the_canonical_one():
    payload = np.array([0xFFC12345, 0x7F800001], np.uint32).view(np.float32)
    _, _, g, _ = run([1, 1], payload, [0, 0])
    assert g.view(np.uint32).tolist() == [0x7FC00000] * 2


def test_the_first_fault_is_returned():
    fault, *_ = run([3, 0, 0], [0, 0, 0], [0, 0, 0])
    assert fault.element == 1
    assert fault.kind is FaultKind.DIVISION_BY_ZERO
    assert fault.operands == (1, 0)


def test_progress_counts_up_to_the_whole_and_changes_nothing():
    seen: list[tuple[int, int]] = []
    count = 3000
    fault, q, _, _ = run(
        range(1, count + 1),
        np.zeros(count),
        np.zeros(count),
        progress=lambda done, total: seen.append((done, total)),
    )
    assert fault is None
    assert q.tolist() == list(range(1, count + 1))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_a_fault_past_the_first_chunk_names_its_element():
    a = np.ones(3000, np.int32)
    a[2500] = 0
    fault, *_ = run(a, np.zeros(3000), np.zeros(3000), progress=lambda *_: None)
    assert fault.element == 2500


def sampled(a, seconds=60.0, most=4096):
    count = len(a)
    inputs = [np.array(a, np.int32), np.ones(count, np.float32), np.zeros(count, np.uint8)]
    sample = ReferenceSample(validate(parse(MODULE)), seconds, most)
    fault = sample.run(inputs, [Value.of(Type.INT, 3)], [], (count,), 1)
    return fault, sample


def test_a_sample_is_the_ends_then_elements_spread_over_the_domain_each_once():
    fault, sample = sampled(range(1, 1001), most=100)
    assert fault is None
    assert sample.elements[:2] == [0, 999]
    assert len(set(sample.elements)) == len(sample.elements) <= 100
    assert len({e // 100 for e in sample.elements}) == 10
    assert sorted(sampled([5, 6, 7])[1].elements) == [0, 1, 2]


def test_a_sample_has_what_a_whole_run_gives_there():
    a = list(range(1, 300))
    _, q, g, flag = run(a, [1.0] * 299, [0] * 299, by=3)
    _, sample = sampled(a, most=50)
    for words, whole in zip(sample.words, (q, g, flag), strict=True):
        assert words.shape == (len(sample.elements), 1)
        assert words[:, 0].tolist() == whole[sample.elements].tolist()


def test_a_sample_ends_when_its_time_is_over_or_at_a_fault():
    _, sample = sampled(range(1, 1001), seconds=0.0)
    assert sample.elements == [0]
    fault, _ = sampled([1, 0])
    assert fault.kind is FaultKind.DIVISION_BY_ZERO
    assert fault.element == 1
