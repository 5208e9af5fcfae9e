"""What the errors of every part share."""

from __future__ import annotations

import traceback

import pytest

from dynamis.errors import DynamisError, public, with_article


@pytest.mark.parametrize(
    "phrase",
    [
        "an f32",
        "an i32",
        "an ivec2",
        "a vec2",
        "a bool",
        "an ndarray",
        "an ellipsis",
        "an int",
        "a uint8",
        "a ufunc",
        "an AB",
        "a NoneType",
        "a float",
        "a set",
    ],
)
def test_a_noun_gets_the_article_it_is_spoken_with(phrase: str) -> None:
    assert with_article(phrase.split()[1]) == phrase


def _fails_inside() -> None:
    try:
        raise KeyError("inner")
    except KeyError as inner:
        raise DynamisError("outer") from inner


def test_a_public_function_raises_its_error_with_its_own_frame_alone() -> None:
    with pytest.raises(DynamisError, match="outer") as caught:
        public(_fails_inside)()
    names = [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert names[1:] == ["entry"]
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


def test_a_public_function_leaves_other_exceptions_as_they_are() -> None:
    def fails() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError) as caught:
        public(fails)()
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "fails"


def test_a_public_function_keeps_its_name_and_docstring() -> None:
    def documented(x: int) -> int:
        """Says so."""
        return x + 1

    assert public(documented).__name__ == "documented"
    assert public(documented).__doc__ == "Says so."
    assert public(documented)(2) == 3
