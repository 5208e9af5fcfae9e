"""How a kernel runs, in words: each read's class and why it is not better, loops, arms, checks.

In: a validated module's native kernel. Out: text. The facts are read off the very program that is
rendered (``facts.py``); where they come from in the source, and which checks are left, off programs
made from the same module with places and with probes (``lower/annotate.py``).
"""

from __future__ import annotations

import linecache
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..codegen import Options, compile_ast, rows_at_once
from ..codegen.split import INTERIOR_AXIS, STEP_AXIS, UNIT_AXIS
from ..kernel import Module, op
from ..kernel.fault import FaultKind
from ..kernel.module import Span
from ..lower import CallClass, lower
from ..lower.annotate import PROBE, Check, Placed, with_places, with_probes, without_places
from ..render import Machine
from ..render.analysis import lanes_or_zero
from ..uop import Ops, Uop, toposort
from ..uop.storage import is_register, storage_of
from .arrays import host_dtype
from .facts import Access, Facts, Kind, LoopFact, Place, RegionFact, find_facts, values_under
from .streaming import fills_lines, streams_from


def explain(
    written: Module, optimized: Module, call: CallClass, options: Options, host: Machine
) -> str:
    """The explanation of a kernel: ``written`` is its accounted module as it was written,
    ``optimized`` the accounted module that is lowered."""
    return _Explanation(written, optimized, call, options, host).text()


class _Explanation:
    def __init__(
        self, written: Module, optimized: Module, call: CallClass, options: Options, host: Machine
    ):
        self.written, self.module, self.host = written, optimized, host
        self.width = options.width
        ast = lower(optimized, call).root
        self.rows = rows_at_once(ast, options)
        self.program = compile_ast(ast, options)
        self.facts: Facts = find_facts(self.program)
        self.placed: Placed = with_places(optimized, call)
        self.sources = _sources(compile_ast(self.placed.root, options), self.placed)
        root, self.checks = with_probes(optimized, call)
        self.probes = _probe_users(toposort(compile_ast(root, options)))

    def text(self) -> str:
        sections = (
            ("at once", self._width()),
            ("rows", self._rows()),
            ("columns", self._columns()),
            ("reads", self._reads()),
            ("writes", self._writes()),
            ("loops", self._loops()),
            ("arms", self._arms()),
            ("checks", self._checks()),
        )
        lines = [str(self.module.manifest.id)]
        for name, found in sections:
            lines += [f"  {name if k == 0 else '':9} {line}" for k, line in enumerate(found)]
        return "\n".join(lines)

    # --- sections

    def _width(self) -> Iterator[str]:
        lanes = self.host.vector_bytes // 4
        if self.width == 1:
            yield "one element, without vectors"
        elif self.width <= lanes:
            yield f"{self.width} elements in one vector"
        else:
            yield f"{self.width} elements: {self.width // lanes} vectors of {lanes} in flight"

    def _rows(self) -> Iterator[str]:
        if self.rows > 1:
            yield f"{self.rows} in a step: what all of them read is loaded once"

    def _columns(self) -> Iterator[str]:
        if self.width == 1:
            return
        if not self.facts.has_interior:
            yield f"steps of {self.width}; the last one of a row is shifted back to end with it"
            return
        yield f"inside, no clamp can bite: steps of {self.width} with plain addresses"
        each = f"steps of {self.width}" if self.facts.lanes_at_border else "one column at a time"
        yield f"at the borders, {each} with clamped ones"

    def _reads(self) -> Iterator[str]:
        ports = self.module.manifest.inputs
        groups: dict[tuple[str, Span | None], list[Access]] = {}
        for access in self.facts.reads:
            if access.slot < len(ports):
                key = ports[access.slot].name, self._span(access.node)
                groups.setdefault(key, []).append(access)
        for (name, span), accesses in sorted(groups.items(), key=lambda item: _order(item[0][1])):
            written = _quoted(span)
            yield written if f"{name}." in written else f"{written} (of {name})"
            places = dict.fromkeys(sorted((a.place for a in accesses), key=list(Place).index))
            counts = (
                f"{p.value}: {_counted([a for a in accesses if a.place is p])}" for p in places
            )
            yield "  " + "; ".join(counts)
            whys = dict.fromkeys(self._why(u) for a in accesses for u in a.why)
            for why in whys:
                yield f"  a gather because {why}"

    def _writes(self) -> Iterator[str]:
        manifest = self.module.manifest
        for k, port in enumerate(manifest.outputs):
            slot = len(manifest.inputs) + k
            own = [a for a in self.facts.writes if a.slot == slot]
            main = [a for a in own if a.place is not Place.BORDER]
            yield f"{port.name}: {_counted(main or own)}"
        first = manifest.outputs[0].element
        if self.width == 1:
            yield "through the caches: without vectors no cache line is written whole"
        elif fills_lines(host_dtype(first).itemsize * first.lanes):
            size = streams_from() // 2**20
            yield f"past the caches in runs that read and write {size} MiB or more"
        else:
            yield f"through the caches: elements of {first.lanes} words do not fill cache lines"

    def _loops(self) -> Iterator[str]:
        found: dict[tuple[Span | None, int], LoopFact] = {}
        for loop in self.facts.loops:
            # the interior's copy is the same loop, and so is a part of a long one
            span = self.placed.loops.get(loop.axis)
            key = span, loop.axis if span is None else 0
            other = found.setdefault(key, loop)
            if other.axis != loop.axis:
                found[key] = replace(other, most=None)
        for (span, _), loop in found.items():
            yield f"{_quoted(span)} — {_described(loop)}"
        kept = {span for span, _ in found}
        for span in _loop_spans(self.written):
            if span not in kept:
                yield f"{_quoted(span)} — unrolled"

    def _arms(self) -> Iterator[str]:
        found: Counter[str] = Counter()
        for region in self.facts.regions:
            spans = self._spans(region)
            if not spans:
                continue  # the cutting of the domain has arms of its own
            lines = sorted({s.line for s in spans})
            where = f"line {lines[0]}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
            when = "where it is taken" if region.uniform else "where any element of a step takes it"
            size = sum(u.op.is_alu for u in region.nodes)
            found[f"{where}: {size} operations run only {when}, {region.place.value}"] += 1
        for text, count in found.items():
            yield text if count == 1 else f"{text} ({count} such arms)"

    def _checks(self) -> Iterator[str]:
        # one place may stand for many checks: unrolled loops, components, helpers
        places: dict[tuple[FaultKind, Span | None], set[str]] = {
            (c.kind, c.span): set() for c in self.checks if c.kind is not FaultKind.BUDGET
        }
        for check in self.checks:
            if check.probe in self.probes and (check.kind, check.span) in places:
                places[check.kind, check.span].add(self._frequency(check))
        remain = {place: often for place, often in places.items() if often}
        if places:
            idle = len(places) - len(remain)
            yield f"{idle} of {len(places)} possible failures are proven not to happen"
        for (kind, span), often in remain.items():
            what = kind.name.lower().replace("_", " ")
            yield f"{_quoted(span)} — {what}, looked for {' and '.join(sorted(often))}"
        if self.module.counts_work():
            yield f"iterations are counted against the budget of {self.module.manifest.budget}"
        elif not places:
            yield "nothing in this kernel can fail"

    # --- places in the source

    def _span(self, node: Uop) -> Span | None:
        return min(self.sources.get(node, ()), key=_order, default=None)

    def _spans(self, region: RegionFact) -> set[Span]:
        return {s for u in region.nodes for s in self.sources.get(u, ())}

    def _frequency(self, check: Check) -> str:
        users = self.probes[check.probe or ""]
        if any(lanes_or_zero(u) for u in users):
            return "in every vector"
        axes = {r.arg.axis for u in users for r in u.ranges}
        if axes & {STEP_AXIS, INTERIOR_AXIS}:
            return "once a step"
        return "once a row" if UNIT_AXIS in axes else "once a block of rows"

    def _why(self, node: Uop) -> str:
        """What an address contains that is not the column plus what all lanes share."""
        below = values_under(node)
        for u in reversed(below):
            if u.op is Ops.LOAD and lanes_or_zero(u):
                if is_register(storage_of(u)):
                    return "the address follows a value that a loop carries element by element"
                return f"the address follows what is read by {_quoted(self._span(u))}"
        if node.op in (Ops.CDIV, Ops.CMOD):
            return "the column is divided on the way to the address"
        if any(_is_choice(u) and lanes_or_zero(u) for u in below):
            return "the address is chosen by a condition that differs from element to element"
        if node.op in (Ops.WHERE, Ops.MAX):
            return "its clamp can bite anywhere in a row"
        return "its column is not the element's own plus a whole number that all share"


def _is_choice(u: Uop) -> bool:
    """Whether a float is chosen by a condition; the larger or smaller of two is not."""
    if u.op is not Ops.WHERE or not u.dtype.is_float:
        return False
    return u.src[0].op is not Ops.CMPLT or set(u.src[0].src) != set(u.src[1:])


# --- what the programs hold


def _sources(program: Uop, placed: Placed) -> dict[Uop, set[Span]]:
    """The places that made each node of the program that is rendered."""
    plain = without_places(program)
    found: dict[Uop, set[Span]] = {}
    for u, bare in plain.items():
        span = placed.spans.get(u.node_tag or "")
        if span is not None:
            found.setdefault(bare, set()).add(span)
    return found


def _probe_users(order: Sequence[Uop]) -> dict[str, list[Uop]]:
    """The probes that a program still has, each with the conditions it stands in."""
    found: dict[str, list[Uop]] = {}
    for u in order:
        for s in u.src if u.op.is_alu else ():
            if s.op is Ops.PARAM and (s.arg.name or "").startswith(PROBE):
                found.setdefault(s.arg.name, []).append(u)
    return found


def _loop_spans(module: Module) -> Iterable[Span]:
    """Where the loops of a module are written, in order."""
    spans = (
        i.span
        for function in module.all_functions()
        for i in function.instructions()
        if isinstance(i.op, op.Loop) and i.span is not None
    )
    return sorted(set(spans), key=_order)


# --- words


def _order(span: Span | None) -> tuple[str, int, int]:
    """Places by file, line and column; what has none last."""
    return ("\U0010ffff", 0, 0) if span is None else (span.file, span.line, span.column)


def _quoted(span: Span | None) -> str:
    """The line, and what is written there."""
    if span is None:
        return "(made by the compiler)"
    text = linecache.getline(span.file, span.line).rstrip("\n")
    written = text[span.column : span.end_column].strip() or text.strip()
    return f"line {span.line}: {written.removesuffix(':')}"


_NAMES = {
    Kind.UNIFORM: "uniform: one load for all lanes",
    Kind.UNIT: "unit stride: whole vectors",
    Kind.ONE: "an element at a time",
}
_NUMBERS = {2: "two", 3: "three", 4: "four"}


def _counted(accesses: Sequence[Access]) -> str:
    """``9 × unit stride: whole vectors``, for each kind that occurs."""
    counts = Counter((a.kind, a.step, a.together) for a in accesses)
    return ", ".join(
        f"{count // together} × {_class(kind, step, together)}"
        for (kind, step, together), count in counts.items()
    )


def _class(kind: Kind, step: int, together: int) -> str:
    """What an access that moves ``together`` words of each element is called."""
    if kind is Kind.SHUFFLED:
        part = "" if together == step else f", of which {together} used"
        return f"elements of {_NUMBERS[step]} words{part}: whole vectors, shuffled"
    if kind is Kind.GATHER:
        words = "" if together == 1 else f" of {_NUMBERS[together]} words together"
        return f"gather{words}: one by one, each at an address of its own"
    return _NAMES.get(kind, f"stride {step}: one by one")


def _described(loop: LoopFact) -> str:
    most = f", {loop.most} times at most" if loop.most is not None else ""
    if loop.divergent:
        return f"divergent{most}: goes on until every element of a step is done"
    if loop.leaves:
        return f"uniform{most}: all elements leave it together"
    return f"uniform{most}: all elements go round as often"
