"""Which argument goes where, and what a wrong call is told."""

from __future__ import annotations

import pytest

from dynamis.kernel import KernelId, Manifest, Mode, Param, Port, PortType, Shape, Type, Value
from dynamis.runtime.bind import bind
from dynamis.runtime.errors import ArgumentTypeError

BLUR = Manifest(
    id=KernelId("blur", 1),
    mode=Mode.MAP,
    requires=frozenset(),
    inputs=(
        Port("image", PortType(Type.VEC4, Shape.GRID)),
        Port("mask", PortType(Type.BOOL, Shape.GRID)),
    ),
    params=(Param("radius", Type.INT, Value.of(Type.INT, 2)),),
    outputs=(Port("out", PortType(Type.VEC4, Shape.GRID)),),
)
OPTIONS = ("out", "threads")


@pytest.mark.parametrize(
    ("args", "keywords"),
    [
        (("i", "m", "r"), {}),
        (("i", "m"), {"radius": "r"}),
        (("i",), {"radius": "r", "mask": "m"}),
        ((), {"radius": "r", "mask": "m", "image": "i"}),
    ],
)
def test_arguments_go_by_position_or_by_name(args, keywords):
    bound = bind(BLUR, args, keywords, OPTIONS)
    assert bound.inputs == ("i", "m")
    assert bound.params == {"radius": "r"}


def test_an_argument_without_a_place_is_given_by_name_only():
    places = ("image", "mask")
    assert bind(BLUR, ("i", "m"), {"radius": "r"}, OPTIONS, places).params == {"radius": "r"}
    with pytest.raises(ArgumentTypeError, match="takes at most 2 arguments by position") as caught:
        bind(BLUR, ("i", "m", "r"), {}, OPTIONS, places)
    assert "but 3 were given: write radius=…" in str(caught.value)
    with pytest.raises(ArgumentTypeError, match="but 4 were given"):
        bind(BLUR, ("i", "m", "r", "x"), {}, OPTIONS, places)


def test_parameters_may_be_left_out():
    assert bind(BLUR, ("i", "m"), {}, OPTIONS).params == {}


@pytest.mark.parametrize(
    ("args", "keywords", "says"),
    [
        (("i",), {}, "blur is missing its input mask: Grid[bool]"),
        ((), {}, "blur is missing its inputs image: Grid[vec4], mask: Grid[bool]"),
        (("i", "m", "r", "x"), {}, "takes at most 3 arguments (image: Grid[vec4], mask: "),
        (("i", "m"), {"image": "j"}, "blur got 'image' twice"),
        (("i", "m"), {"radus": 3}, "no input or parameter 'radus'; did you mean 'radius'?"),
        (("i", "m"), {"thread": 3}, "did you mean 'threads'?"),
        (("i", "m"), {"qqq": 3}, "no input or parameter 'qqq': it takes (image: Grid[vec4], "),
    ],
)
def test_a_call_that_does_not_fit_is_told_what_is_expected(args, keywords, says):
    with pytest.raises(ArgumentTypeError) as caught:
        bind(BLUR, args, keywords, OPTIONS)
    assert says in str(caught.value)
