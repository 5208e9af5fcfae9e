"""The contract's nodes: identity, accessors, predicates, comparison, operators."""

from __future__ import annotations

import gc
from itertools import pairwise

import pytest

from dynamis.dtype import bool_, float32, int32
from dynamis.uop import (
    Metadata,
    O,
    Ops,
    RefTbl,
    Tbl,
    Uop,
    UopError,
    alu_binary,
    compare_structure,
    const_int,
    const_of_dtype,
    pp,
    range_,
    replace,
    with_tag,
)
from dynamis.uop.axis_type import AxisType
from tests.uop.contract import loop, n, scalar, tensor

a, b, f = scalar("a"), scalar("b"), scalar("f", float32)


def test_equal_nodes_are_one_node() -> None:
    assert a + b is alu_binary(op=Ops.ADD, lhs=a, rhs=b)
    assert isinstance(a + b, Uop)
    assert a + b is not b + a
    with pytest.raises(UopError):
        Uop()


def test_the_accessors_read_the_fields() -> None:
    u = a + b
    assert u.op is Ops.ADD
    assert u.dtype is int32
    assert u.src == (a, b)
    assert u.arg is None
    assert const_int(3).arg.value == 3
    assert u.node_tag is None
    assert u.children == [a, b]


def test_tags_are_equal_for_one_node_only_and_are_not_used_again() -> None:
    u = a + b
    assert u.tag == (a + b).tag
    assert u.tag != (a * b).tag
    gone = (a * 12345).tag
    gc.collect()
    assert (a * 12346).tag > gone


def test_the_node_tag_is_part_of_identity() -> None:
    u = with_tag("mark", a + b)
    assert (a + b).node_tag is None
    assert u.node_tag == "mark"
    assert u is not a + b
    assert u is with_tag("mark", a + b)


def test_metadata_is_attached_and_no_part_of_identity() -> None:
    u = a * 77
    assert u.metadata == ()
    told = [Metadata("m", "here", False)]
    assert u.with_metadata(told) is u
    assert u.metadata == tuple(told)
    assert (a * 77).metadata == tuple(told)
    u.with_metadata([])


def test_with_metadata_replaces_what_was_attached() -> None:
    u = a * 78
    u.with_metadata([Metadata("first")])
    assert u.with_metadata([Metadata("second")]).metadata == (Metadata("second"),)
    assert u.with_metadata([]).metadata == ()


def test_equal_is_identity() -> None:
    assert (a + b).equal(a + b)
    assert not (a + b).equal(b + a)
    assert (a + b).equal(replace(a * b, op=Ops.ADD))


def test_compare_orders_by_tag_and_agrees_with_equal() -> None:
    nodes = [a, b, a + b, a * b, const_int(1)]
    for x in nodes:
        for y in nodes:
            assert x.compare(y) == (x.tag > y.tag) - (x.tag < y.tag)
            assert (x.compare(y) == 0) == x.equal(y)


def test_compare_structure_orders_by_op_dtype_payload_and_children() -> None:
    ordered = [
        const_of_dtype(int32, 1) + a,  # an earlier op than MUL; first child decides below
        a * const_of_dtype(int32, 1),
    ]
    assert compare_structure(ordered[0], ordered[1]) == -1
    assert compare_structure(ordered[1], ordered[0]) == 1
    assert compare_structure(a, a) == 0
    by_value = [const_of_dtype(int32, v) for v in (-7, -1, 0, 3, 2**30)]
    assert [compare_structure(x, y) for x, y in pairwise(by_value)] == [-1] * 4
    by_child = [a + v for v in (-7, 0, 5)]
    assert [compare_structure(x, y) for x, y in pairwise(by_child)] == [-1, -1]
    # a later node is not a greater one: tags have no say
    late, early = scalar("aa") + 1, scalar("zz") + 1
    assert compare_structure(late, early) == -1
    assert compare_structure(const_of_dtype(float32, 1), const_of_dtype(int32, 1)) == 1


def test_operators_build_alu_nodes() -> None:
    for made, op in (
        (a + b, Ops.ADD), (a - b, Ops.SUB), (a * b, Ops.MUL), (a // b, Ops.FLOORDIV),
        (a % b, Ops.FLOORMOD), (a & b, Ops.AND), (a | b, Ops.OR), (a ^ b, Ops.XOR),
        (a << b, Ops.SHL), (a >> b, Ops.SHR), (a < b, Ops.CMPLT), (a.eq(b), Ops.CMPEQ),
        (a.ne(b), Ops.CMPNE), (a.maximum(b), Ops.MAX),
    ):  # fmt: skip
        assert made is alu_binary(op=op, lhs=a, rhs=b)
    assert f / 2 is alu_binary(op=Ops.FDIV, lhs=f, rhs=const_of_dtype(float32, 2))
    assert 2 - a is alu_binary(op=Ops.SUB, lhs=const_of_dtype(int32, 2), rhs=a)
    assert (-a).op is Ops.NEG
    assert (a < b).dtype is bool_
    assert (a < b).where(a, b).src == (a < b, a, b)


def test_nodes_are_keys_of_dictionaries_by_identity() -> None:
    table = {a + b: 1, b + a: 2}
    assert table[a + b] == 1
    assert table[b + a] == 2
    assert a * b not in table


def test_a_set_of_nodes_holds_each_once() -> None:
    assert len({a + b, a + b, b + a, with_tag("t", a + b)}) == 3
    assert hash(a + b) == hash(a + b)


def test_a_table_is_keyed_by_nodes() -> None:
    table: Tbl[int] = Tbl({a + b: 1})
    table[b + a] = 2
    table[with_tag("t", a + b)] = 3
    assert table == {a + b: 1, b + a: 2, with_tag("t", a + b): 3}
    assert a * b not in table


def test_a_table_by_identity_is_keyed_by_nodes() -> None:
    table: RefTbl[int] = RefTbl({a + b: 1})
    assert table[alu_binary(op=Ops.ADD, lhs=a, rhs=b)] == 1
    assert len(table) == 1


def test_operators_are_also_functions() -> None:
    assert O.int_(2) is const_int(2)
    assert O.cast(a, float32) is a.cast(float32)
    assert O.float_(0.5) is const_of_dtype(float32, 0.5)
    assert O.bool_(True) is const_of_dtype(bool_, True)
    assert O.eq(a, b) is a.eq(b)
    assert O.ne(a, 3) is a.ne(3)
    assert O.lt(a, b) is (a < b)
    assert O.max_(a, b) is a.maximum(b)
    assert O.not_(a < b) is (a < b).logical_not()
    assert O.cdiv(a, b) is alu_binary(op=Ops.CDIV, lhs=a, rhs=b)
    assert O.cmod(a, b) is alu_binary(op=Ops.CMOD, lhs=a, rhs=b)
    assert O.where(a < b, a, b) is (a < b).where(a, b)


def test_pp_is_a_nested_prefix_expression() -> None:
    u = range_(size=n(4), axis=3, kind=AxisType.LOOP) + 1
    assert pp(u) == "ADD:weakint(RANGE:weakint[3](CONST:weakint[4]), CONST:weakint[1])"
    assert pp(loop() * loop()).count("RANGE") == 2
    assert pp(tensor(2)).startswith("BUFFER:f32")
