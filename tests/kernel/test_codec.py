"""How words are stored: every code of the small encodings, and the rounding of each."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dynamis.kernel import InputField, interpret, validate
from dynamis.kernel.codec import decode, encode, encoding_fault
from dynamis.kernel.encoding import ENCODINGS, Encoding
from dynamis.kernel.fault import FaultKind
from dynamis.kernel.types import bits_float, float_bits
from tests.kernel.build import module

FLOATS = st.integers(0, 2**32 - 1).map(bits_float)
UNORM = [Encoding.UNORM8, Encoding.UNORM16]
SNORM = [Encoding.SNORM8, Encoding.SNORM16]
SMALL = [Encoding.I8, Encoding.U8, Encoding.I16, Encoding.U16]


def codes(encoding: Encoding) -> range:
    bits = ENCODINGS[encoding].bits
    low = -(1 << (bits - 1)) if ENCODINGS[encoding].is_signed else 0
    return range(low, low + (1 << bits), 1 if bits == 8 else 97)


@pytest.mark.parametrize("encoding", UNORM + SNORM)
def test_scaled_codes_are_one_f32_division(encoding: Encoding) -> None:
    scale = np.float32({8: 255, 16: 65535}[ENCODINGS[encoding].bits])
    if encoding in SNORM:
        scale = np.float32({8: 127, 16: 32767}[ENCODINGS[encoding].bits])
    for code in codes(encoding):
        expected = max(float(np.float32(code) / scale), -1.0)
        assert decode(encoding, code) == expected


@pytest.mark.parametrize("encoding", UNORM + SNORM)
def test_codes_survive_decoding_and_encoding(encoding: Encoding) -> None:
    for code in codes(encoding):
        again = encode(encoding, decode(encoding, code))
        lowest = encoding in SNORM and code == codes(encoding)[0]
        assert again == (code + 1 if lowest else code)  # -128/127 is stored as -127


@pytest.mark.parametrize("encoding", UNORM + SNORM)
@given(x=FLOATS)
def test_scaled_words_go_to_the_nearest_code_ties_to_even(encoding: Encoding, x: float) -> None:
    scale = ENCODINGS[encoding].scale
    low = -1 if encoding in SNORM else 0
    stored = encode(encoding, x)
    if math.isnan(x):
        assert stored == 0
        return
    exact = min(
        max(Fraction(x) if math.isfinite(x) else Fraction(int(math.copysign(2, x))), low), 1
    )
    distance = abs(exact * scale - stored)
    assert distance < Fraction(1, 2) or (distance == Fraction(1, 2) and stored % 2 == 0)


def test_half_way_words_go_to_the_even_code() -> None:
    assert encode(Encoding.UNORM8, 0.5) == 128  # 127.5
    assert encode(Encoding.SNORM8, 0.5) == 64  # 63.5
    assert encode(Encoding.SNORM8, -0.5) == -64


def test_half_floats_decode_as_numpy_reads_them() -> None:
    for bits in range(0, 2**16, 7):
        expected = float(np.array([bits], np.uint16).view(np.float16)[0])
        expected = math.nan if expected != expected else expected
        assert repr(decode(Encoding.F16, bits)) == repr(expected)


@given(FLOATS)
def test_half_floats_encode_as_numpy_rounds_them(x: float) -> None:
    with np.errstate(over="ignore"):
        expected = int(np.float32(x).astype(np.float16).view(np.uint16))
    assert encode(Encoding.F16, x) == (0x7E00 if math.isnan(x) else expected)


@given(FLOATS)
def test_brain_floats_are_the_upper_bits_rounded_to_even(x: float) -> None:
    stored = encode(Encoding.BF16, x)
    assert isinstance(stored, int)
    if math.isnan(x):
        assert stored == 0x7FC0
        return
    bits = float_bits(x)
    expected = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    assert stored == expected
    assert float_bits(float(decode(Encoding.BF16, stored))) == expected << 16


@pytest.mark.parametrize("encoding", SMALL)
def test_small_integers_hold_their_range_and_fail_outside(encoding: Encoding) -> None:
    info = np.iinfo({"i8": "i1", "u8": "u1", "i16": "i2", "u16": "u2"}[encoding.value])
    low, high = int(info.min), int(info.max)
    for word in (low, high, 0):
        assert encoding_fault(encoding, word) is None
        assert decode(encoding, encode(encoding, word)) == word
    assert encoding_fault(encoding, low - 1) is FaultKind.OVERFLOW
    assert encoding_fault(encoding, high + 1) is FaultKind.OVERFLOW


def test_a_byte_that_is_not_zero_is_true_and_one_is_written() -> None:
    assert [decode(Encoding.BOOL, byte) for byte in (0, 1, 2, 255)] == [False, True, True, True]
    assert [encode(Encoding.BOOL, word) for word in (False, True)] == [0, 1]


@pytest.mark.parametrize("encoding", [Encoding.F32, Encoding.F64, Encoding.I32, Encoding.I64])
def test_plain_kinds_store_the_words_themselves(encoding: Encoding) -> None:
    assert decode(encoding, 7) == encode(encoding, 7) == 7
    assert encoding_fault(encoding, -7) is None


def test_ports_decode_what_is_read_and_encode_what_is_stored() -> None:
    made = module(
        "%0: Vec2 = sample 0\n%1: Vec2 = %0 + %0\nreturn %1, %0",
        inputs=("a: Rows<Vec2, unorm8>",),
        params=(),
        outputs=("o: Rows<Vec2, unorm8>", "h: Rows<Vec2, f16>"),
    )
    outcome = interpret(validate(made), [InputField((2,), [0, 51, 102, 255])], (), (2,))
    halves = [
        int(np.float16(np.float32(n) / np.float32(255)).view(np.uint16)) for n in (0, 51, 102, 255)
    ]
    assert outcome.outputs == ([0, 102, 204, 255], halves)


def test_a_word_that_an_integer_encoding_does_not_hold_fails_at_its_result() -> None:
    made = module(
        "%0: Int = sample 0\n%1: Int = %0 + %0\nreturn %0, %1",
        inputs=("a: Rows<Int>",),
        params=(),
        outputs=("x: Rows<Int>", "y: Rows<Int, u8>"),
    )
    fault = interpret(validate(made), [InputField((3,), [1, 127, 128])], (), (3,)).fault
    assert fault is not None
    assert (fault.element, fault.instruction, fault.kind) == (2, 1, FaultKind.OVERFLOW)
    assert fault.operands == (256,)
