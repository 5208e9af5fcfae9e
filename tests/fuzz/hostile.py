"""Texts that are no modules, or hardly: bytes, tokens in any order, modules with damage.

In: a random generator and the texts of some valid modules. Out: ``hostile_text``, one text; and
``try_text``, which parses one and says how it ended. Only ``ParseError`` (and, of what parses,
``ValidationError``) may end it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random

from dynamis.kernel import Module, ParseError, ValidationError, op, parse, validate
from dynamis.kernel.capability import Capability
from dynamis.kernel.check_structs import Structs
from dynamis.kernel.encoding import Encoding
from dynamis.kernel.op_table import OPS
from dynamis.kernel.tables import BinaryOp, Intrinsic, UnaryOp
from dynamis.kernel.types import PLAIN_TYPES
from tests.fuzz.guard import within

WORDS = (
    *(row.word for row in OPS.values() if row.word), *(o.value for o in BinaryOp),
    *(o.value for o in UnaryOp), *(i.value for i in Intrinsic), *PLAIN_TYPES,
    *(c.value for c in Capability), *(e.value for e in Encoding),
    "dynamis", "kernel", "ir", "1", "mode", "map", "input", "param", "output", "memory", "requires",
    "budget", "struct", "function", "entry", "merge", "init", "return", "yield", "let", "then",
    "else", "do", "until", "bound", "init", "match", "default", "x", "a.b@1", "Rows<Float>",
    "Grid<Vec4, unorm8>", "Struct0", "Struct99999", "[Float; 4]", "%0", "%1", "%4294967296", "0",
    "-1", "4294967296", "9" * 400, "0.5", "nan", "-inf", "1e400", "true", "(", ")", "{", "}", ":",
    ",", "=", "[%0]", ".0", "\n",
)  # fmt: skip
ODD = "\x00\t\r\n \u00a0\u2028\u0660\ud800é×%{}()[]<>:,;.@=-+0123456789eE'\"\\"
NUMBERS = ("-1", "0", "1", "255", "65537", "2147483648", "18446744073709551616", "1" * 5000, "1e9")
MOST = 20_000
"""The most characters of a hostile text but for those that are meant to be long."""


def hostile_text(rng: Random, texts: Sequence[str]) -> str:
    """One text, of one of the kinds."""
    return rng.choices(KINDS, (10, 10, 12, 12, 12, 12, 12, 8, 10, 2))[0](rng, rng.choice(texts))


def _bytes(rng: Random, text: str) -> str:
    raw = rng.randbytes(rng.randint(0, 200))
    return raw.decode(rng.choice(("latin-1", "utf-8", "ascii")), "surrogateescape")


def _soup(rng: Random, text: str) -> str:
    head = "dynamis kernel ir 1\n" if rng.random() < 0.6 else ""
    return head + " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, 80)))


def _characters(rng: Random, text: str) -> str:
    for _ in range(rng.randint(1, 4)):
        at = rng.randint(0, len(text))
        end = at + rng.choice((0, 0, 1, 1, 3))
        text = text[:at] + rng.choice(("", rng.choice(ODD), rng.choice(ODD) * 3)) + text[end:]
    return text


def _tokens(rng: Random, text: str) -> str:
    """Some tokens dropped, doubled, swapped or replaced by others."""
    tokens = text.split(" ")
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(tokens))
        tokens[at] = rng.choice(
            ("", f"{tokens[at]} {tokens[at]}", rng.choice(WORDS), rng.choice(tokens))
        )
    return " ".join(tokens)


def _numbers(rng: Random, text: str) -> str:
    """Some numbers replaced by numbers of any size."""
    places = [k for k, c in enumerate(text) if c.isdigit()]
    for at in sorted(rng.sample(places, min(len(places), rng.randint(1, 3))), reverse=True):
        text = text[:at] + rng.choice(NUMBERS) + text[at + 1 :]
    return text


def _lines(rng: Random, text: str) -> str:
    """Some lines dropped, doubled or moved."""
    lines = text.split("\n")
    for _ in range(rng.randint(1, 3)):
        line = lines.pop(rng.randrange(len(lines))) if len(lines) > 1 else ""
        for _ in range(rng.randint(0, 2)):
            lines.insert(rng.randint(0, len(lines)), line)
    return "\n".join(lines)


def _cut(rng: Random, text: str) -> str:
    return text[: rng.randint(0, len(text))]


def _spliced(rng: Random, text: str) -> str:
    """A piece of the text put elsewhere in it."""
    a, b = sorted(rng.randint(0, len(text)) for _ in range(2))
    at = rng.randint(0, len(text))
    return text[:at] + text[a : min(b, a + 400)] + text[at:]


def _braces(rng: Random, text: str) -> str:
    """Brackets that do not match."""
    for _ in range(rng.randint(1, 3)):
        places = [k for k, c in enumerate(text) if c in "(){}<>[]"]
        if places:
            at = rng.choice(places)
            text = (
                text[:at]
                + rng.choice(("", "(", ")", "{", "}", "{{", "}}", "<", "]"))
                + text[at + 1 :]
            )
    return text


def _deep(rng: Random, text: str) -> str:
    """Blocks within blocks without end, or one line that is very long."""
    head = text.partition("entry")[0] + "entry main() {\n%0: Bool = const true\n"
    depth = rng.choice((10, 64, 65, 5000))
    opening = rng.choice(
        ("if %0 then {", "loop 3 init %0 do {", "each 3 {", "match %0 {", "lanes {", "(", "{")
    )
    nested = "".join(f"%{k + 1}: Bool = {opening}\n" for k in range(depth))
    return rng.choice((head + nested, head + opening * depth, head + "x" * 50_000, nested + head))


KINDS: tuple[Callable[[Random, str], str], ...] = (
    _bytes, _soup, _characters, _tokens, _numbers, _lines, _cut, _spliced, _braces, _deep,
)  # fmt: skip


def try_text(text: str, seconds: float = 10.0) -> str:
    """How reading the text ended: ``refused``, ``invalid`` or ``valid``. Raises what else it ends
    with, and AssertionError where an error tells no place or what was read does not read back."""
    with within(seconds, f"parsing {text[:60]!r}"):
        try:
            made = parse(text)
        except ParseError as error:
            return _refused(error)
        try:
            validate(made)
            verdict = "valid"
        except ValidationError as error:
            verdict = _invalid(error)
        # The parser leaves a constant of a struct that is no type to the validator, and prints its
        # words in a form of their own: only such a module need not read back.
        if verdict == "valid" or not _has_odd_constant(made):
            assert parse(str(made)) == made, "what was read does not read back"
        return verdict


def _has_odd_constant(module: Module) -> bool:
    """Whether a constant, or a default, is of a struct that the table does not have or that is too
    large to be a type."""
    count = len(module.structs)
    values = [param.default for param in module.manifest.params]
    values += [
        i.op.value
        for function in module.all_functions()
        for i in function.instructions()
        if isinstance(i.op, op.Const)
    ]
    try:
        Structs(module.structs)
    except ValidationError:
        count = 0  # a table with a fault in it: none of its structs is sure to be a type
    return any(value.ty.is_struct and value.ty.index >= count for value in values)


def _refused(error: ParseError) -> str:
    assert error.line >= 1 and error.column >= 1 and error.expected, str(error)
    assert str(error).startswith(f"line {error.line}, column {error.column}: ")
    return "refused"


def _invalid(error: ValidationError) -> str:
    assert error.rule >= 1 and error.path, str(error)
    return "invalid"
