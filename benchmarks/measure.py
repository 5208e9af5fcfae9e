"""Measures rows: every peer in its own process, the processes' rounds taking turns.

In: rows, peers, sizes. Out: `Measured` values, one a row. Each process keeps its row ready and
works only when it is its turn, so that whatever changes the machine's speed meets every peer.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from .peers import Peer
from .rows import Agreement, Row

ROOT = Path(__file__).parent.parent
CLANGS = tuple(f"clang-{n}" for n in range(24, 13, -1))


class ChildError(RuntimeError):
    """A peer's process that ended instead of answering."""


@dataclass(frozen=True)
class Settings:
    """How a run is done.

    ``seconds`` and ``calls`` bound one turn of one formulation; ``rest`` is the seconds between
    turns, for some runtimes' threads spin for 0.2 s after their work. Sizes are the table's,
    except in a quick run and in a tiny one."""

    threads: int
    rounds: int
    quick: bool
    peer_python: str = sys.executable
    seconds: float = 0.1
    calls: int = 50
    rest: float = 0.25
    tiny: bool = False

    def size(self, row: Row) -> int:
        return row.tiny if self.tiny else row.quick if self.quick else row.full


@dataclass(frozen=True)
class Series:
    """One formulation of one peer: seconds of its counted calls, and what it took to get there."""

    name: str
    times: tuple[float, ...]
    first: float
    agreement: Agreement

    @property
    def median(self) -> float:
        return statistics.median(self.times)

    @property
    def least(self) -> float:
        return min(self.times)

    @property
    def compile(self) -> float:
        """Seconds of the first call beyond those of a later one, in a process that has compiled
        something before."""
        return max(self.first - self.median, 0.0)


@dataclass(frozen=True)
class Result:
    """A peer on a row: its formulations, or why it has none."""

    peer: Peer
    version: str = ""
    series: tuple[Series, ...] = ()
    peak: int | None = None
    absent: str = ""
    kept: float | None = None
    """Seconds of the first call in a process that finds the kernel compiled on disk."""

    @property
    def best(self) -> Series | None:
        """The formulation with the least median, among those that did the row's work."""
        good = [s for s in self.series if s.agreement.ok and s.name != "limit"]
        return min(good, key=lambda s: s.median, default=None)

    @property
    def limit(self) -> Series | None:
        return next((s for s in self.series if s.name == "limit"), None)


@dataclass(frozen=True)
class Measured:
    """A row at a size; results in the order of the peers asked for."""

    row: Row
    size: int
    bytes: int
    """Of inputs and outputs together."""
    results: dict[str, Result]
    busy: float
    """CPUs' worth of work that others did on this machine meanwhile."""
    note: str = ""

    def best(self, peer: str) -> Series | None:
        result = self.results.get(peer)
        return result.best if result else None

    @property
    def best_peer(self) -> tuple[str, Series] | None:
        """The fastest of the peers, neither ours nor the hand-written limit."""
        found = [
            (name, best)
            for name, result in self.results.items()
            if name not in ("ours", "hand") and (best := result.best)
        ]
        return min(found, key=lambda pair: pair[1].median, default=None)


@dataclass
class _Child:
    """A peer's process."""

    peer: Peer
    process: subprocess.Popen[str]
    errors: Path
    hello: dict = field(default_factory=dict)
    times: dict[str, list[float]] = field(default_factory=dict)

    def ask(self, order: dict | None) -> dict:
        """Sends an order, if any, and waits for the answer."""
        assert self.process.stdin and self.process.stdout
        try:
            if order is not None:
                print(json.dumps(order), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            said = self.errors.read_text(errors="replace").strip().splitlines()
            last = f": {said[-1][:200]}" if said else ""
            raise ChildError(f"ended with code {self.process.wait()}{last}")
        return json.loads(line)

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


def measure(
    row: Row, peers: Sequence[Peer], settings: Settings, say: Callable[[str], None]
) -> Measured:
    """One row by every peer. ``say`` gets a line about what is being done."""
    size = settings.size(row)
    with tempfile.TemporaryDirectory(prefix="dynamis-bench-") as folder:
        children: list[_Child] = []
        try:
            for peer in peers:
                say(f"{row.name}: starting {peer.title}")
                child = _start(peer, row, size, settings, Path(folder) / peer.name)
                children.append(child)
                child.hello = _first_answer(child)
            kept = _from_disk(row, size, settings, Path(folder), peers)
            busy = _rounds(children, settings, lambda n: say(f"{row.name}: round {n}"))
            data_bytes, agreements = _compare(row, size, children)
        finally:
            for child in children:
                child.close()
    results = {c.peer.name: _result(c, agreements) for c in children}
    if "ours" in results:
        results["ours"] = replace(results["ours"], kept=kept)
    return Measured(row, size, data_bytes, results, busy)


def _from_disk(
    row: Row, size: int, settings: Settings, folder: Path, peers: Sequence[Peer]
) -> float | None:
    """Seconds of our first call where an earlier process has kept what it compiled."""
    seconds = None
    for ours in (p for p in peers if p.name == "ours"):
        for name in ("fills", "finds"):
            child = _start(ours, row, size, settings, folder / name, folder / "cache")
            try:
                seconds = _first_answer(child).get("first", {}).get("")
            finally:
                child.close()
    return seconds


def _start(
    peer: Peer, row: Row, size: int, settings: Settings, folder: Path, cache: Path | None = None
) -> _Child:
    folder.mkdir()
    python = sys.executable if peer.name == "ours" else settings.peer_python
    command = [python, "-m", "benchmarks.child", peer.name, row.name]
    with (folder / "errors.txt").open("wb") as errors:
        process = subprocess.Popen(
            [*command, str(size), str(settings.threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            cwd=ROOT,
            env=_environment(peer, folder, cache),
            text=True,
        )
    return _Child(peer, process, folder / "errors.txt")


def _environment(peer: Peer, folder: Path, cache: Path | None) -> dict[str, str]:
    """A peer's environment: temporary files and caches of its own, no foreign CPU settings."""
    # OpenBLAS is to find its kernels by itself, for the CPU that it is on
    left_out = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")
    environment = {k: v for k, v in os.environ.items() if k not in left_out}
    environment |= {
        "TMPDIR": str(folder),
        "TORCHINDUCTOR_CACHE_DIR": str(folder / "torch"),
        "NUMBA_CACHE_DIR": str(folder / "numba"),
        "DYNAMIS_CACHE": str(cache or "off"),
        **peer.environment,
    }
    if peer.name == "ours":
        paths = [str(ROOT / "src"), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    else:
        environment.pop("PYTHONPATH", None)
    if peer.name == "tinygrad" and shutil.which("clang") is None:
        found = next(filter(None, map(shutil.which, CLANGS)), None)
        if found:  # it calls its compiler by that name alone
            (folder / "clang").symlink_to(found)
            environment["PATH"] = f"{folder}{os.pathsep}{environment.get('PATH', '')}"
    return environment


def _first_answer(child: _Child) -> dict:
    try:
        return child.ask(None)
    except ChildError as error:
        return {"failed": str(error)}


def _rounds(children: list[_Child], settings: Settings, say: Callable[[int], None]) -> float:
    """Every peer's times, in turns; CPUs that others kept busy meanwhile."""
    ready = [c for c in children if "results" in c.hello]
    order = {"seconds": settings.seconds, "calls": settings.calls}
    before = _cpu(children)
    for n in range(settings.rounds):
        say(n + 1)
        shift = n % max(len(ready), 1)
        for child in ready[shift:] + ready[:shift]:
            time.sleep(settings.rest)
            try:
                answer = child.ask(order)
            except ChildError as error:
                child.hello = {"failed": str(error)}
                continue
            if "times" not in answer:
                child.hello = answer
                continue
            for name, times in answer["times"].items():
                child.times.setdefault(name, []).extend(times)
        ready = [c for c in ready if "results" in c.hello]
    return _others(before, _cpu(children))


def _compare(row: Row, size: int, children: list[_Child]) -> tuple[int, dict]:
    """How each answer compares with ours (with the first peer's, where ours is not asked for)."""
    agreements: dict[tuple[str, str], Agreement] = {}
    ready = [c for c in children if "results" in c.hello]
    ready.sort(key=lambda c: c.peer.name != "ours")
    standard = None
    data_bytes = sum(a.nbytes for a in row.data(size).arrays.values())
    for child in ready:
        for name, path in child.hello["results"].items():
            result = np.load(path)
            os.unlink(path)
            if standard is None:
                standard = result
                data_bytes += result.nbytes
            if name == "limit":
                agreements[child.peer.name, name] = Agreement("", True)
            else:
                agreements[child.peer.name, name] = row.compare(result, standard)
    return data_bytes, agreements


def _result(child: _Child, agreements: dict) -> Result:
    hello = child.hello
    if "results" not in hello:
        why = hello.get("absent") or f"failed: {hello.get('failed')}"
        return Result(child.peer, absent=why)
    series = tuple(
        Series(name, tuple(times), hello["first"][name], agreements[child.peer.name, name])
        for name, times in child.times.items()
    )
    return Result(child.peer, hello["version"], series, hello["peak"])


# --- who else is at work


def _cpu(children: list[_Child]) -> tuple[float, float, float] | None:
    """Seconds that all CPUs were busy, that this process and the children were, and the time."""
    try:
        with open("/proc/stat") as stat:
            fields = [int(x) for x in stat.readline().split()[1:]]
        ticks = os.sysconf("SC_CLK_TCK")
        busy = sum(fields[k] for k in (0, 1, 2, 5, 6)) / ticks
        own = sum(os.times()[:2]) + sum(map(_process_seconds, _running(children)))
        return busy, own, time.perf_counter()
    except OSError:
        return None


def _running(children: list[_Child]) -> Iterator[int]:
    return (c.process.pid for c in children if c.process.poll() is None)


def _process_seconds(pid: int) -> float:
    with open(f"/proc/{pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _others(
    before: tuple[float, float, float] | None, after: tuple[float, float, float] | None
) -> float:
    """CPUs' worth of work done by anybody else; 0 where the system does not tell."""
    if before is None or after is None:
        return 0.0
    busy, own, seconds = (b - a for a, b in zip(before, after, strict=True))
    return max(busy - own, 0.0) / max(seconds, 1e-9)
