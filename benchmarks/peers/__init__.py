"""The peers of the table, one module each.

A peer module says how one system does the rows, as a careful user of it would:

- ``VERSION``: what is measured, in a few words;
- ``warm()``: compiles something trivial, so that the first call of a row pays for that row only;
- ``FORMS``: row → name of a formulation → function of the row's `Data` and of the number of
  threads that gives a `Form`.

A peer's module imports its library at its top: where that fails, the peer is absent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from ..rows import Array


@dataclass(frozen=True)
class Form:
    """One way to do a row. ``step()`` does it once and returns when the result is there, into
    memory that was there before wherever the peer can; ``result()`` gives the last result."""

    step: Callable[[], object]
    result: Callable[[], Array]


@dataclass(frozen=True)
class Peer:
    """A peer of the table: its module here, and the environment its process needs."""

    name: str
    title: str
    environment: dict[str, str] = field(default_factory=dict)
    asked_only: bool = False
    """Takes minutes to compile the rows: left out unless it is named."""


HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""For peers that return fresh memory: their first touch of it costs less."""

PEERS = (
    Peer("ours", "Dynamis"),
    Peer("hand", "hand C++"),
    Peer("numpy", "NumPy"),
    Peer("numba", "Numba"),
    Peer("jax", "JAX", {"JAX_PLATFORMS": "cpu", **HUGE_PAGES}),
    Peer("torch", "torch.compile", HUGE_PAGES, asked_only=True),
    Peer("taichi", "Taichi", {"TI_LOG_LEVEL": "error"}),
    Peer("halide", "Halide"),
    Peer("tinygrad", "tinygrad", {"DEV": "CPU", "CACHELEVEL": "0", "CCACHE": "0"}),
)
BY_NAME = {peer.name: peer for peer in PEERS}
