"""The measured table as Markdown: `Measured` rows in, text out."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from .measure import Measured, Result, Series, Settings
from .peers import Peer

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
"""What stands between these in a document is written by `insert`."""
TIE = 1.05
BUSY = 0.15
"""CPUs kept busy by others from which a run says little."""


def report(measured: Sequence[Measured], peers: Sequence[Peer], settings: Settings) -> str:
    """Everything that a run found, ready to be read."""
    present = [p for p in peers if any(_answered(m.results.get(p.name)) for m in measured)]
    parts = [
        _how(measured, settings),
        "### Ours beside hand-written C++ and the best peer\n",
        _goals(measured),
        "### Every peer: median, and least…most, in ms\n",
        _grid(measured, present, _spread),
        _ahead(measured),
        "### How the answers agree with ours\n",
        _grid(measured, [p for p in present if p.name != "ours"], _agreement),
        "### Compiling: seconds that the first call takes beyond a later one\n",
        _grid(
            measured,
            [p for p in present if p.name not in ("hand", "numpy")],
            _compile,
            extra=("Dynamis, kept on disk", _kept),
        ),
        "### Peak memory of the process, MB, library and arrays included\n",
        _grid(measured, present, _memory, extra=("the arrays", _arrays)),
        _absences(measured, peers),
    ]
    return "\n".join(part for part in parts if part)


def insert(path: Path, text: str) -> None:
    """Writes `text` between the markers of a document, or as the document where there are none."""
    between = f"{BEGIN}\n{text}\n{END}"
    old = path.read_text(encoding="utf-8") if path.exists() else ""
    if BEGIN in old and END in old:
        before, _, rest = old.partition(BEGIN)
        _, _, after = rest.partition(END)
        between = before + between + after
    else:
        between += "\n"
    path.write_text(between, encoding="utf-8")


def verdict(measured: Measured) -> str:
    """Whether ours reaches the row's goal in this run."""
    goal, ours, hand = measured.row.goal, measured.best("ours"), measured.best("hand")
    if ours is None:
        return "—"
    if hand is None:
        return "no hand C++ here"
    if ours.median <= goal.times * hand.median:
        return "reached"
    if goal.tie and ours.median <= TIE * _tie_with(measured):
        return "tie"
    return "BELOW"


def _tie_with(measured: Measured) -> float:
    """The best peer's median, or what the machine takes to move the bytes: the larger."""
    best = measured.best_peer
    times = [best[1].median] if best else []
    times += [r.limit.median for r in measured.results.values() if r.limit]
    return max(times, default=0.0)


# --- cells


def milliseconds(seconds: float) -> str:
    """Three digits, or as many as there are before the point."""
    value = seconds * 1e3
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def _answered(result: Result | None) -> bool:
    return result is not None and bool(result.series)


def _spread(measured: Measured, result: Result) -> str:
    best = result.best
    if best is None:
        return "did other work" if result.series else "—"
    text = f"{milliseconds(best.median)} ({milliseconds(best.least)}…{milliseconds(_most(best))})"
    if best.name:
        text += f" {best.name}"
    fastest = measured.best_peer
    return f"**{text}**" if fastest and fastest[0] == result.peer.name else text


def _most(series: Series) -> float:
    return max(series.times)


def _agreement(measured: Measured, result: Result) -> str:
    shown = {
        s.agreement.text if s.agreement.ok else f"DISAGREES: {s.agreement.text}"
        for s in result.series
        if s.name != "limit" and (s is result.best or not s.agreement.ok)
    }
    return ", ".join(sorted(shown)) or "—"


def _compile(measured: Measured, result: Result) -> str:
    best = result.best
    return f"{best.compile:.3f}" if best else "—"


def _kept(measured: Measured) -> str:
    ours = measured.results.get("ours")
    best = ours.best if ours else None
    if ours is None or best is None or ours.kept is None:
        return "—"
    return f"{max(ours.kept - best.median, 0.0):.3f}"


def _memory(measured: Measured, result: Result) -> str:
    return f"{result.peak / 1e6:.0f}" if result.peak else "—"


def _arrays(measured: Measured) -> str:
    return f"{measured.bytes / 1e6:.1f}"


# --- tables


def _goals(measured: Sequence[Measured]) -> str:
    head = (
        "workload",
        "size",
        "ours, ms",
        "rate",
        "hand C++, ms",
        "ours ÷ hand",
        "goal",
        "",
        "best peer",
        "ours ÷ peer",
    )
    lines = [_line(head), _line(["---"] * len(head))]
    for m in measured:
        ours, hand, best = m.best("ours"), m.best("hand"), m.best_peer
        rate = f"{m.row.work(m.size) / ours.median:.3g} {m.row.rate}" if ours else "—"
        lines.append(
            _line(
                (
                    m.row.title,
                    _size(m),
                    milliseconds(ours.median) if ours else m.note or "—",
                    rate,
                    milliseconds(hand.median) if hand else "—",
                    _ratio(ours, hand),
                    m.row.goal.text,
                    verdict(m),
                    f"{m.results[best[0]].peer.title} {milliseconds(best[1].median)}"
                    if best
                    else "—",
                    _ratio(ours, best[1] if best else None),
                )
            )
        )
    return "\n".join(lines) + "\n"


def _size(measured: Measured) -> str:
    n = measured.size
    return f"{n}²" if measured.row.square else f"{n:,}"


def _ratio(ours: Series | None, other: Series | None) -> str:
    """Of the medians, and of the least times in brackets."""
    if not ours or not other:
        return "—"
    return f"{ours.median / other.median:.2f} ({ours.least / other.least:.2f})"


def _grid(
    measured: Sequence[Measured],
    peers: Sequence[Peer],
    cell: Callable[[Measured, Result], str],
    extra: tuple[str, Callable[[Measured], str]] | None = None,
) -> str:
    """A line a workload, a column a peer."""
    head = ["workload", *([extra[0]] if extra else []), *(p.title for p in peers)]
    lines = [_line(head), _line(["---"] * len(head))]
    for m in measured:
        cells = [m.row.title, *([extra[1](m)] if extra else [])]
        for peer in peers:
            result = m.results.get(peer.name)
            cells.append(cell(m, result) if result and result.series else "—")
        lines.append(_line(cells))
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


# --- words


def _how(measured: Sequence[Measured], settings: Settings) -> str:
    versions = {r.peer.name: r.version for m in measured for r in m.results.values() if r.version}
    busy = max((m.busy for m in measured), default=0.0)
    limits = [
        f"moving {m.row.title}'s bytes once takes {milliseconds(r.limit.median)} ms "
        f"(least {milliseconds(r.limit.least)}) whatever is computed"
        for m in measured
        for r in m.results.values()
        if r.limit
    ]
    lines = [
        f"{cpu_name()}, {settings.threads} threads, Python {platform.python_version()}; "
        f"{settings.rounds} rounds in which the peers took turns"
        + (" on a QUARTER of the sizes" if settings.quick else "")
        + ".",
        f"{'; '.join(versions.values())}.",
        f"Others kept at most {busy:.2f} CPUs busy meanwhile"
        + (": TOO BUSY to judge by these numbers." if busy > BUSY else "."),
        *(f"On this machine {limit}." for limit in limits),
    ]
    return "\n".join(lines) + "\n"


def _ahead(measured: Sequence[Measured]) -> str:
    """The rows on which somebody else was faster, each with who and by how much."""
    lines = []
    for m in measured:
        ours = m.best("ours")
        faster = [
            f"{result.peer.title} takes {result.best.median / ours.median:.2f} of our time"
            for result in m.results.values()
            if ours and result.best and result.best.median < ours.median
        ]
        if faster:
            lines.append(f"- {m.row.title}: {'; '.join(faster)}")
    if not lines:
        lines = ["On no row of this run was anybody faster."]
    return "### Where others are ahead\n\n" + "\n".join(lines) + "\n"


def _absences(measured: Sequence[Measured], peers: Sequence[Peer]) -> str:
    """Peers that were asked for and are not there, said once each where they never are."""
    lines = []
    for peer in peers:
        whys = {m.row.name: m.results[peer.name].absent for m in measured if peer.name in m.results}
        missing = {row: why for row, why in whys.items() if why}
        if missing and len(missing) == len(whys) and len(set(missing.values())) == 1:
            lines.append(f"- {peer.title}: {next(iter(missing.values()))}")
        else:
            lines += [f"- {peer.title}, {row}: {why}" for row, why in missing.items()]
    lines += [f"- Dynamis, {m.row.name}: {m.note}" for m in measured if m.note]
    return "### Absent\n\n" + "\n".join(lines) + "\n" if lines else ""


def cpu_name() -> str:
    """The processor's name, as well as the system tells it."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    name = found.group(1).strip() if found else platform.processor() or platform.machine()
    return f"{name} ({os.cpu_count()} CPUs)"
