"""Pictures of the measured table: `Measured` rows in, SVG files out. Needs matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from .measure import Measured
from .peers import Peer

COLOURS = {
    "ours": "#c8102e",
    "hand": "#222222",
    "numpy": "#4d77cf",
    "numba": "#00a3e0",
    "jax": "#7b4bb3",
    "torch": "#ee7b30",
    "taichi": "#2a9d5c",
    "halide": "#b08d2f",
    "tinygrad": "#999999",
}


def draw(folder: Path, measured: Sequence[Measured], peers: Sequence[Peer]) -> list[Path]:
    """Writes ``speed.svg`` and ``compile.svg``; their paths. Raises ImportError without
    matplotlib."""
    folder.mkdir(parents=True, exist_ok=True)

    def beside_hand(m: Measured, peer: str) -> float | None:
        best, hand = m.best(peer), m.best("hand")
        return best.median / hand.median if best and hand else None

    def compiling(m: Measured, peer: str) -> float | None:
        best = m.best(peer)
        return max(best.compile, 1e-3) if best else None

    compiled = [p for p in peers if p.name not in ("hand", "numpy")]
    others = [p for p in peers if p.name != "hand"]
    return [
        _bars(
            folder / "speed.svg",
            measured,
            others,
            beside_hand,
            "time beside hand-written C++ (= 1): up is slower, down is faster",
            line=1.0,
        ),
        _bars(
            folder / "compile.svg",
            measured,
            compiled,
            compiling,
            "seconds to compile (goal: 0.1), in a process that has compiled before",
            line=0.1,
        ),
    ]


def _bars(
    path: Path,
    measured: Sequence[Measured],
    peers: Sequence[Peer],
    value: Callable[[Measured, str], float | None],
    title: str,
    line: float,
) -> Path:
    """Groups of bars, a group a workload, a bar a peer, on a logarithmic axis: up from ``line``
    where a peer takes longer than that, down where it takes less."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "dynamis"  # the same file from the same numbers
    from matplotlib import pyplot, ticker

    shown = [p for p in peers if any(value(m, p.name) is not None for m in measured)]
    figure, axes = pyplot.subplots(figsize=(11, 4.2), layout="constrained")
    thickness = 0.84 / max(len(shown), 1)
    for k, peer in enumerate(shown):
        bars = [(n, v) for n, m in enumerate(measured) if (v := value(m, peer.name)) is not None]
        places = [n + (k - (len(shown) - 1) / 2) * thickness for n, _ in bars]
        axes.bar(
            places,
            [v - line for _, v in bars],
            bottom=line,
            width=thickness * 0.92,
            color=COLOURS.get(peer.name, "#666666"),
            label=peer.title,
        )
    axes.axhline(line, color="#222222", linewidth=0.8)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(ticker.LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:g}"))
    axes.yaxis.set_minor_locator(ticker.NullLocator())
    axes.set_xticks(range(len(measured)), [m.row.name for m in measured])
    axes.set_xlim(-0.5, len(measured) - 0.5)
    axes.set_title(title, loc="left", fontsize=11)
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", alpha=0.25)
    axes.set_axisbelow(True)
    axes.legend(ncols=len(shown), loc="upper center", bbox_to_anchor=(0.5, -0.08), frameon=False)
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)
    return path
