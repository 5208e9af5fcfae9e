"""The contract's serialisation: export, import and the keys that survive both."""

from __future__ import annotations

import subprocess
import sys

import pytest

from dynamis.dtype import float32, int32
from dynamis.uop import (
    CallInfo,
    Estimates,
    KernelInfo,
    Metadata,
    ProgramInfo,
    Uop,
    UopError,
    call,
    const_of_dtype,
    export,
    import_,
    program,
    replace,
    sink,
    with_tag,
)
from tests.uop.contract import loop, memory, n, scalar, scratch, tensor, var

a, b = scalar("a"), scalar("b")


def graph() -> Uop:
    """A graph with uops in its payloads, tags, shared nodes and constants that hash alike."""
    m = var("m")
    kernel = sink([with_tag("t", a * 2 + b), a * 2, const_of_dtype(float32, -0.0)],
                  kernel_info=KernelInfo(name="k", estimates=Estimates(ops=m * 3)))  # fmt: skip
    info = ProgramInfo(name="p", global_size=(m + 1, 1, 1), vars=(m,))
    return program(sink=kernel, info=info)


def test_export_and_import_give_the_same_node_back() -> None:
    root = graph()
    assert import_(export(root)) is root
    for u in (loop() + 1, memory(), const_of_dtype(float32, float("nan")), n(2**200), tensor(2, 3)):
        assert import_(export(u)) is u


def test_export_keeps_tags_and_drops_metadata() -> None:
    u = with_tag("kept", a * 97).with_metadata([Metadata("dropped")])
    text = export(u)
    u.with_metadata([])
    back = import_(text)
    assert back.node_tag == "kept"
    assert back.metadata == ()


def test_export_refuses_gradient_functions() -> None:
    info = CallInfo(grad_fxn=lambda *, grad_output, call: [])
    with pytest.raises(UopError) as caught:
        export(sink([call(body=a, args=[], info=info)]))
    assert isinstance(caught.value, ValueError)


def test_import_keeps_sharing_between_sources_and_payloads() -> None:
    root = graph()
    back = import_(export(root))
    info = back.as_program_info()
    assert info is not None
    assert info.global_size[0].src[0] is info.vars[0]
    kernel = back.src[0].as_kernel_info()
    assert kernel is not None
    assert kernel.estimates.ops.src[0] is info.vars[0]


def test_import_refuses_damaged_and_unknown_input() -> None:
    text = export(graph())
    half = len(text) // 2
    for damaged in (text[:half], text[:-1], text[:0], text + text[:1], text[half:]):
        with pytest.raises(ValueError) as caught:  # noqa: PT011  # our own, shown below
            import_(damaged)
        assert isinstance(caught.value, UopError)


def test_import_rebuilds_a_graph_in_another_process() -> None:
    script = (
        "import sys; from tests.uop.test_contract_serial import graph; "
        "from dynamis.uop import export; text = export(graph()); "
        "sys.stdout.write(graph().semantic_key + '\\n' + repr(text))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=120
    )
    key, text = done.stdout.split("\n", 1)
    root = graph()
    assert key == root.semantic_key
    assert import_(eval(text)) is root  # a literal that our own child process wrote


def test_semantic_key_covers_structure_and_leaves_identity_out() -> None:
    keys = [
        u.semantic_key
        for u in (
            a + b, b + a, a * b, const_of_dtype(float32, 0.0), const_of_dtype(float32, -0.0),
            const_of_dtype(int32, 0), const_of_dtype(int32, -1), const_of_dtype(int32, -2),
            sink([a]), sink([a], kernel_info=KernelInfo(name="k")),
        )
    ]  # fmt: skip
    assert len(set(keys)) == len(keys)
    assert with_tag("t", a + b).semantic_key == (a + b).semantic_key
    tagged = (a * 96).with_metadata([Metadata("m")])
    key = tagged.semantic_key
    tagged.with_metadata([])
    assert key == (a * 96).semantic_key
    assert replace(scratch(), node_tag="x").semantic_key == scratch().semantic_key
