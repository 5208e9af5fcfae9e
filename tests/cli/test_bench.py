"""``dynamis bench``: what it says and refuses. Nothing asserts on time."""

from __future__ import annotations

import re

import numpy as np
import pytest

from dynamis.runtime.reference import ReferenceSample

TIME = r"[\d.]+(e[+-]\d+)? (s|ms|µs)"
RATE = r"[\d.]+(e[+-]\d+)? [kMG]?"


def lines(result) -> dict[str, str]:
    assert result.code == 0, result.error
    rows = [line for line in result.out.splitlines() if line.startswith("  ")]
    return {row[2:14].strip(): row[15:] for row in rows}


def test_every_fact_has_its_line(run):
    result = run("bench", "kernels.py", "photo.png", "-k", "invert", "--seconds", 0, "-t", 1)
    assert result.out.splitlines()[0] == "test.invert@1 on 3×2 elements, 1 thread"
    said = lines(result)
    facts = ["first call", "compiling", "later calls", "elements", "arrays", "agreement"]
    assert list(said) == facts
    assert said["compiling"].startswith("front end ")
    assert re.fullmatch(f"{TIME} compiling, {TIME} running", said["first call"])
    assert re.fullmatch(rf"{TIME}, the median of 5 \({TIME} … {TIME}\)", said["later calls"])
    assert re.fullmatch(rf"{RATE} ?elements a second", said["elements"])
    assert re.fullmatch(rf"192 B in and out, {RATE}B a second", said["arrays"])
    assert said["agreement"] == "the reference gives the same words at all elements"


def test_parameters_shape_and_width_reach_the_run(run):
    arguments = ("--shape", "40,70", "--param", "steps=7", "--width", 4, "--seconds", 0)
    result = run("bench", "kernels.py", "--kernel", "gradient", *arguments)
    assert "gradient@1 on 70×40 elements" in result.out
    assert re.search(r"the same words at [\d,]+ of 2,800 elements", result.out)


def test_a_domain_without_elements_has_nothing_to_compare(run):
    result = run("bench", "kernels.py", "-k", "gradient", "--shape", "0,5", "--seconds", 0)
    assert lines(result)["agreement"] == "there is no element to compare"


def test_several_outputs_and_rows_are_compared(run, write):
    write(
        "polar.py",
        """
        from typing import NamedTuple
        import dynamis as dy
        from dynamis import Rows, f32, vec2
        class Polar(NamedTuple):
            length: Rows[f32]
            right: Rows[bool]
        @dy.kernel
        def polar(v: Rows[vec2]) -> Polar:
            return Polar(dy.length(v.sample()), v.sample().x > 0.0)
        """,
    )
    np.save("v.npy", np.random.default_rng(3).standard_normal((3000, 2), dtype=np.float32))
    result = run("bench", "polar.py", "v.npy", "--seconds", 0)
    assert result.out.startswith("polar@1 on 3000 elements, ")
    assert "the reference gives the same words at " in result.out


def test_other_words_than_the_reference_s_are_an_error(run, monkeypatch):
    honest = ReferenceSample.run

    def wrong(self, *arguments, **keywords):
        fault = honest(self, *arguments, **keywords)
        self.words[0][-1] += 1
        return fault

    monkeypatch.setattr(ReferenceSample, "run", wrong)
    result = run("bench", "kernels.py", "photo.png", "-k", "invert", "--seconds", 0)
    assert result.code == 1
    assert "output 'out' is not what the reference gives at element" in result.said
    assert "bug of Dynamis" in result.said


def test_a_kernel_that_fails_says_where(run, write):
    write(
        "fails.py",
        """
        import dynamis as dy
        from dynamis import Rows, i32
        @dy.kernel
        def fails(n: Rows[i32]) -> Rows[i32]:
            return 1 // n.sample()
        """,
    )
    np.save("n.npy", np.array([1, 0, 2], np.int32))
    result = run("bench", "fails.py", "n.npy")
    assert result.code == 1
    assert "division by zero" in result.said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["photo.png", "--seconds", "-1"], "takes a number from 0, not -1"),
        (["photo.png", "--seconds", "nan"], "takes a number from 0, not nan"),
        ([], "one file per input (image: Grid[vec4]): 1 expected, 0 given"),
        (["nowhere.png"], "there is no file nowhere.png"),
        (["photo.png", "--threads", "0"], "not 0"),
        (["photo.png", "--param", "amuont=1"], "has no parameter 'amuont'"),
        (["photo.png", "--width", "3"], "width is 3"),
    ],
)
def test_a_wrong_command_line_is_told(run, arguments, message):
    result = run("bench", "kernels.py", "--kernel", "invert", *arguments)
    assert result.code == 2
    assert message in result.said


def test_a_kernel_without_inputs_asks_for_a_shape(run):
    result = run("bench", "kernels.py", "--kernel", "gradient")
    assert result.code == 2
    assert "write --shape height,width" in result.said
