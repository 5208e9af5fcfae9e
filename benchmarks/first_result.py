"""From the start of a process to a kernel's first result, stage by stage.

    python -m benchmarks first_result [FILE[:KERNEL] …] [--rounds N] [--size N]

Each kernel runs in processes of its own: ``cold`` ones begin with an empty disk cache, ``warm``
ones find there what an earlier one has kept. A process imports NumPy and Dynamis, then the kernel's
file, and calls the kernel once on small arrays. Bytecode is cached as usual (the first process of
all writes it and is not counted). ``measure`` gives the same to other benchmarks.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

STAGES = (
    "interpreter", "NumPy", "dynamis", "file",
    "front end", "import", "cache", "lowering", "LLVM", "load", "run",
)  # fmt: skip
"""Python itself; importing NumPy, then Dynamis, then the kernel's file; those of
``kernel.timings``; and the rest of the first call."""

WORKLOADS = Path(__file__).with_name("workloads.py")
ROWS = (
    "grayscale", "fused", "gaussian3", "convolve5", "mandelbrot", "raymarch", "nbody", "median3"
)  # fmt: skip
"""Kernels of the performance table that are measured where none is named."""

CHILD = """
import time
began = time.time()
clock = time.perf_counter
t0 = clock()
import numpy as np
t1 = clock()
import dynamis
t2 = clock()
import json, sys
from benchmarks.first_result import arguments, load
path, name, size, spawned = sys.argv[1:]
t3, c3 = clock(), time.process_time()
kernel = load(path, name)
t4 = clock()
args, keywords = arguments(kernel, int(size))  # asks for the manifest: the front end runs here
kernel(*args, **keywords)
t5, c5 = clock(), time.process_time()
stages = dict(kernel.timings)
told = {"interpreter": began - float(spawned), "NumPy": t1 - t0, "dynamis": t2 - t1,
        "file": t4 - t3, **stages, "run": t5 - t4 - sum(stages.values())}
print(json.dumps([told, c5 - c3, kernel.timings.cache, "llvmlite" in sys.modules]))
"""


@dataclass(frozen=True)
class FirstResult:
    """Seconds of each of ``STAGES`` in one process. ``processor``: seconds the processor worked
    after ``import dynamis``, which a busy machine changes less; ``cache``: what it says it did;
    ``llvmlite``: whether the process loaded it."""

    stages: dict[str, float]
    processor: float
    cache: str
    llvmlite: bool

    @property
    def total(self) -> float:
        """From the start of the process to the first result."""
        return sum(self.stages.values())

    @property
    def after_import(self) -> float:
        """From the end of ``import dynamis`` to the first result."""
        before = ("interpreter", "NumPy", "dynamis")
        return sum(spent for stage, spent in self.stages.items() if stage not in before)


def measure(
    path: Path, kernel: str = "", *, rounds: int = 5, size: int = 256
) -> tuple[list[FirstResult], list[FirstResult]]:
    """The cold and the warm first results of a kernel (the last one of its file without a name),
    on arrays of ``size`` elements an axis; taken in turns."""
    cold, warm = [], []
    with tempfile.TemporaryDirectory() as scratch:
        bytecode = Path(scratch) / "bytecode"
        _first_result(path, kernel, size, Path(scratch) / "unmeasured", bytecode)
        for number in range(rounds):
            folder = Path(scratch) / str(number)
            cold.append(_first_result(path, kernel, size, folder, bytecode))
            warm.append(_first_result(path, kernel, size, folder, bytecode))
    return cold, warm


def median(results: list[FirstResult]) -> FirstResult:
    """The medians of each stage."""
    stages = {s: statistics.median(r.stages[s] for r in results) for s in STAGES}
    processor = statistics.median(r.processor for r in results)
    return FirstResult(stages, processor, results[0].cache, results[0].llvmlite)


def _first_result(path: Path, kernel: str, size: int, folder: Path, bytecode: Path) -> FirstResult:
    root = Path(__file__).parents[1]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    environment["DYNAMIS_CACHE"] = str(folder)
    environment["PYTHONPYCACHEPREFIX"] = str(bytecode)
    environment["PYTHONPATH"] = os.pathsep.join(
        [str(root), *filter(None, [os.environ.get("PYTHONPATH")])]
    )
    command = [sys.executable, "-c", CHILD, str(path), kernel, str(size), repr(time.time())]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{path} {kernel}: {done.stderr}")
    return FirstResult(*json.loads(done.stdout.splitlines()[-1]))


def load(path: str, name: str):
    """The kernel of a file whose function is ``name``, the last one without."""
    import importlib.util

    import dynamis

    spec = importlib.util.spec_from_file_location("measured", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["measured"] = module
    spec.loader.exec_module(module)
    kernels = [v for v in vars(module).values() if isinstance(v, dynamis.Kernel)]
    found = [k for k in kernels if name in ("", k.__name__)]
    if not found:
        sys.exit(f"{path} has no kernel {name}")
    return found[-1]


def arguments(kernel, size: int):
    """Arrays of ones for a kernel's inputs, and ``shape=`` where there is none."""
    import numpy as np

    from dynamis.runtime.arrays import host_dtype

    ports = kernel.manifest.inputs
    extent = (size,) * kernel.manifest.outputs[0].shape.rank
    arrays = [
        np.ones(
            (size,) * p.shape.rank + ((p.element.lanes,) if p.element.is_vector else ()),
            host_dtype(p.element),
        )
        for p in ports
    ]
    return arrays, {} if ports else {"shape": extent}


def table(rows: list[tuple[str, str, FirstResult]]) -> str:
    """Markdown: a row a kernel and a state of the cache, milliseconds a stage; ``CPU`` is what of
    the last but one the processor worked."""
    head = ["kernel", "cache", *STAGES, "total", "after `import dynamis`", "CPU"]
    lines = [head, ["---"] * 2 + ["--:"] * (len(head) - 2)]
    for name, state, result in rows:
        figures = [*(result.stages[s] for s in STAGES), result.total, result.after_import]
        figures.append(result.processor)
        lines.append([name, state, *(f"{1e3 * figure:.1f}" for figure in figures)])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.first_result",
        description="Milliseconds from the start of a process to a kernel's first result.",
    )
    parser.add_argument(
        "kernels",
        nargs="*",
        metavar="FILE[:KERNEL]",
        default=[f"{WORKLOADS}:{name}" for name in ROWS],
        help="by default rows of the table of performance",
    )
    parser.add_argument("--rounds", type=int, default=5, help="processes of each kind (5)")
    parser.add_argument("--size", type=int, default=256, help="elements an axis (256)")
    chosen = parser.parse_args()
    rows = []
    for text in chosen.kernels:
        path, _, name = text.partition(":")
        cold, warm = measure(Path(path), name, rounds=chosen.rounds, size=chosen.size)
        label = name or Path(path).stem
        rows += [(label, "cold", median(cold)), (label, "warm", median(warm))]
    print(table(rows))


if __name__ == "__main__":
    main()
