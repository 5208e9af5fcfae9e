"""What lanes are worth: the Mandelbrot example at each vector width, one thread, in one run.

    python -m benchmarks lanes [--size 1024] [--rounds 9]

Rounds are interleaved, so that a change of the machine's speed meets every width; the medians and
their ratios to one lane are printed. Every width gives the same words, which is checked.
"""

import argparse
import importlib.util
import pathlib
import statistics
import time

import dynamis as dy
from dynamis.codegen import WIDTHS

EXAMPLE = pathlib.Path(__file__).parent.parent / "examples" / "mandelbrot.py"


def load_example() -> dy.Kernel:
    spec = importlib.util.spec_from_file_location("mandelbrot", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.mandelbrot


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", type=int, default=1024, help="pixels each way")
    parser.add_argument("--rounds", type=int, default=9)
    arguments = parser.parse_args()
    shape = (arguments.size, arguments.size)
    kernels = {width: load_example().options(width=width) for width in WIDTHS}
    words = {kernel(shape=shape, threads=1).tobytes() for kernel in kernels.values()}
    assert len(words) == 1, "the widths disagree"
    seconds: dict[int, list[float]] = {width: [] for width in WIDTHS}
    for _ in range(arguments.rounds):
        for width, kernel in kernels.items():
            started = time.perf_counter()
            kernel(shape=shape, threads=1)
            seconds[width].append(time.perf_counter() - started)
    medians = {width: statistics.median(taken) for width, taken in seconds.items()}
    print(f"Mandelbrot {shape[0]}×{shape[1]}, one thread, median of {arguments.rounds} rounds")
    for width, median in medians.items():
        print(f"  {width:2} lanes {median * 1e3:8.1f} ms   {medians[1] / median:5.2f} × one lane")


if __name__ == "__main__":
    main()
