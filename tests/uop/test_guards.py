"""Guards: conditions stripped of nots, and what a value is where its condition does not hold."""

from __future__ import annotations

import itertools

from dynamis.dtype import bool_, int32
from dynamis.uop import Uop, const_bool, evaluate, param, stack, toposort
from dynamis.uop.guards import conjuncts, disjuncts, guard, idle, resting


def named(name: str, dtype: object = bool_) -> Uop:
    return param(slot=-1, dtype=dtype, shape=stack(()), name=name)


A, B, C = map(named, "ABC")
X, Y = named("x", int32), named("y", int32)


def test_a_guard_is_stripped_of_nots() -> None:
    assert guard(A) == (A, True)
    assert guard(A.logical_not()) == (A, False)
    assert guard(A.logical_not().logical_not()) == (A, True)
    number = X.ne(1)
    assert guard(number) == (number, True)  # a comparison of numbers is no not


def test_conjuncts_all_hold_where_an_and_does() -> None:
    assert conjuncts(A & (B.logical_not() & C)) == [(A, True), (B, False), (C, True)]
    either = A | B
    assert conjuncts(either) == [(either, True)]


def test_disjuncts_none_hold_where_an_or_does_not() -> None:
    either = A | B.logical_not()
    assert disjuncts(either) == {(either, True), (A, True), (B, False)}


def test_idle_is_the_other_value_of_a_choice() -> None:
    chosen = A.where(X, Y)
    assert idle(chosen, A) is Y
    assert idle(chosen, A.logical_not()) is X
    assert idle(chosen, B) is None
    assert idle(chosen, A | B) is Y


def test_idle_of_a_conjunction_is_false_and_of_an_or_with_it_the_rest() -> None:
    failing = A & (X < 3)
    assert idle(failing, A) is const_bool(False)
    assert idle(failing | B, A) is B
    assert idle(B | failing, A) is B
    assert idle(failing, B) is None


def test_resting_goes_on_until_a_node_is_from_elsewhere() -> None:
    first = B | (A & (X < 3))
    second = first | (A & (Y < 3))
    assert resting(second, A, {second, first}) is B
    assert resting(second, A, {second}) is first
    assert resting(second, C, {second}) is None


def test_idle_holds_wherever_the_condition_does_not() -> None:
    words = {A: (False, True), B: (False, True), C: (False, True), X: (1, 5), Y: (2, 7)}
    values = [
        A.where(X, Y),
        A.logical_not().where(X, Y),
        B | (A & (X < 3)),
        A & B & C,
        (A & B) | (A & C),
    ]
    conditions = [A, A.logical_not(), A | B, B, (A | C).logical_not()]
    seen = 0
    for value, condition in itertools.product(values, conditions):
        rest = idle(value, condition)
        for numbers in itertools.product(*words.values()) if rest is not None else ():
            given = dict(zip(words, numbers, strict=True))
            if not computed(condition, given):
                seen += 1
                assert computed(value, given) == computed(rest, given)
    assert seen > 100


def computed(root: Uop, given: dict[Uop, object]) -> object:
    """The number of a node, parameters' numbers given."""
    known = dict(given)
    for u in toposort(root):
        if u not in known and u.op.is_alu:
            known[u] = evaluate(u.op, u.dtype, [known[s] for s in u.src])
        elif u not in known and u.arg is not None and hasattr(u.arg, "value"):
            known[u] = u.arg.value
    return known[root]
