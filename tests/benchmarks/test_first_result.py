"""The benchmark of first results: its form and what its processes load, never its figures."""

from __future__ import annotations

import pytest

from benchmarks.first_result import STAGES, measure, median, table
from dynamis.runtime.code_image import flat

KERNELS = """
import dynamis as dy
from dynamis import Grid, Rows, f32, vec3

@dy.kernel
def shaded(image: Grid[vec3], at: f32 = 1.0) -> Grid[f32]:
    return image.sample().x * at

@dy.kernel
def ramp() -> Rows[f32]:
    return f32(dy.element())
"""


@pytest.mark.skipif(not flat(), reason="programs are kept where code is flat images")
@pytest.mark.parametrize("name", ["shaded", ""])
def test_a_first_result_is_split_into_stages_cold_and_warm(tmp_path, name):
    file = tmp_path / "kernels.py"
    file.write_text(KERNELS)
    cold, warm = measure(file, name, rounds=1, size=8)
    assert [(r.llvmlite, r.cache.split(" in ")[0]) for r in cold + warm] == [
        (True, "kept"),
        (False, "found"),
    ]
    for result in cold + warm:
        assert set(result.stages) == set(STAGES)
        assert result.after_import < result.total
        assert result.processor > 0
    assert warm[0].stages["LLVM"] == 0 < cold[0].stages["LLVM"]
    lines = table([("it", "cold", median(cold)), ("it", "warm", median(warm))]).splitlines()
    assert len(lines) == 4
    assert {line.count("|") for line in lines} == {len(STAGES) + 6}
