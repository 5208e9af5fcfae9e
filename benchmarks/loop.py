"""The hot loop of a row's machine code on this machine, and what llvm-mca makes of it.

    python -m benchmarks loop mandelbrot [--width 16]

Prints the innermost loop with the most vector instructions. Where LLVM's machine code analyser
(``llvm-mca``) is installed and knows the processor, the cycles that it predicts for 100 iterations
and the busiest resources follow. It knows ports and latencies, not caches.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from .rows import BY_NAME

ANALYSERS = (*(f"llvm-mca-{n}" for n in range(24, 13, -1)), "llvm-mca")
_LABEL = re.compile(r"^(\.L\w+):")
_JUMP = re.compile(r"^\tj(\w+)\s+(\.L\w+)")
_VECTOR = re.compile(r"%[yz]mm")  # a border goes column by column, in the lowest lane of xmm


@dataclass
class _Block:
    """A run of instructions that is entered at its first and left at its last."""

    name: str
    lines: list[str]
    after: list[int]

    @property
    def vectors(self) -> int:
        return sum(bool(_VECTOR.search(line)) for line in self.lines)


def hot_loop(assembly: str) -> list[str]:
    """The instructions of the innermost loop with the most vector instructions, in the order in
    which they lie in memory; empty where there is no loop."""
    blocks = _blocks(assembly)
    loops = _loops(blocks)
    inner = [loop for loop in loops if not any(other < loop for other in loops)]
    hot = max(inner, key=lambda loop: sum(blocks[n].vectors for n in loop), default=frozenset())
    return [line for n in sorted(hot) for line in blocks[n].lines]


def _blocks(assembly: str) -> list[_Block]:
    """The blocks of the first function; a block goes on to the next unless it jumps away."""
    blocks = [_Block("", [], [])]
    ends = True
    for line in assembly.splitlines():
        label = _LABEL.match(line)
        if label is None and (not line.startswith("\t") or line.startswith("\t.")):
            if line.startswith(".Lfunc_end"):
                break
            continue
        if label is not None and label.group(1).startswith(".Lfunc_end"):
            break
        if label is not None or ends:
            blocks.append(_Block(label.group(1) if label else "", [], []))
        blocks[-1].lines.append(line)
        ends = label is None and bool(_JUMP.match(line) or line.startswith("\tret"))
    names = {block.name: n for n, block in enumerate(blocks) if block.name}
    for n, block in enumerate(blocks):
        last = block.lines[-1] if block.lines else ""
        jump = _JUMP.match(last)
        if jump and jump.group(2) in names:
            block.after.append(names[jump.group(2)])
        goes_on = not last.startswith("\tret") and not (jump and jump.group(1) == "mp")
        if goes_on and n + 1 < len(blocks):
            block.after.append(n + 1)
    return blocks


def _loops(blocks: Sequence[_Block]) -> list[frozenset[int]]:
    """The natural loops: a jump back to a block that dominates it, and all that leads there."""
    before: list[list[int]] = [[] for _ in blocks]
    for n, block in enumerate(blocks):
        for m in block.after:
            before[m].append(n)
    dominators = [{0}] + [set(range(len(blocks))) for _ in blocks[1:]]
    changed = True
    while changed:
        changed = False
        for n in range(1, len(blocks)):
            common = set.intersection(*(dominators[m] for m in before[n])) if before[n] else set()
            if common | {n} != dominators[n]:
                dominators[n], changed = common | {n}, True
    found: dict[int, set[int]] = {}
    for n, block in enumerate(blocks):
        for head in block.after:
            if head in dominators[n]:
                body, pending = found.setdefault(head, {head}), [n]
                while pending:
                    m = pending.pop()
                    if m not in body:
                        body.add(m)
                        pending += before[m]
    return [frozenset(body) for body in found.values()]


def analysed(loop: Sequence[str]) -> str | None:
    """What llvm-mca says about a loop on this processor; None where none knows it."""
    from llvmlite.binding import get_host_cpu_name

    code = "\n".join(line for line in loop if not line.startswith("."))
    options = [f"-mcpu={get_host_cpu_name()}", "-iterations=100", "-all-views=0", "-summary-view"]
    for tool in filter(None, map(shutil.which, ANALYSERS)):
        command = [tool, *options, "-bottleneck-analysis"]
        done = subprocess.run(command, input=code, capture_output=True, text=True)
        if done.returncode == 0 and "not a recognized" not in done.stderr:
            return done.stdout.partition("Critical sequence")[0].strip()
    return None


def main() -> None:
    from .peers.ours import KERNELS

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks loop",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("row", choices=list(BY_NAME))
    parser.add_argument("--width", type=int, help="elements side by side; the kernel's own without")
    arguments = parser.parse_args()
    kernel = KERNELS[arguments.row]
    if arguments.width:
        kernel = kernel.options(width=arguments.width)
    loop = hot_loop(str(kernel.show("asm")))
    print("\n".join(loop))
    print(f"\n{len(loop)} lines")
    found = analysed(loop)
    print(found if found is not None else "no llvm-mca here knows this processor: no prediction")
