"""How deep a function's source nests: the limits, and the room that compiling it takes.

In: a function's source. Out: a KernelError at the place where a limit is passed, or the number of
Python frames that compiling it may stack up, which ``room.py`` makes room for.
"""

from __future__ import annotations

import ast

from .source import SourceFunction, children

MAX_EXPRESSION_DEPTH = 100
"""The deepest an expression may nest; a + b + c + … counts as one level, however long."""
MAX_BRANCHES = 200
"""The most branches of one if / elif chain."""
MAX_COMPARISONS = 60
"""The most comparisons in one chain a < b < c …"""
MAX_CALL_DEPTH = 64
"""The deepest helpers may call one another."""

_EXPRESSION_FRAMES, _STATEMENT_FRAMES, _FLOW_FRAMES, _LEAF_FRAMES = 6, 7, 4, 80
_MAX_BLOCKS = 64  # as deep as statements are compiled; what is deeper is flattened or refused


def checked_frames(source: SourceFunction) -> int:
    """The frames that compiling a function takes at most. Raises KernelError past a limit."""
    statements = expressions = 0
    stack: list[tuple[ast.AST, int, int]] = [(s, 1, 0) for s in source.tree.body]
    while stack:
        node, outer, inner = stack.pop()
        statements, expressions = max(statements, outer), max(expressions, inner)
        if isinstance(node, ast.If) and outer > MAX_BRANCHES:
            source.fail(
                source.span(node),
                f"an if with more than {MAX_BRANCHES} branches",
                found=f"branch {outer} of one chain",
                hint="end each branch with return and write if instead of elif, or split the chain",
            )
        if isinstance(node, ast.expr) and inner > MAX_EXPRESSION_DEPTH:
            source.fail(
                node,
                f"the expression nests more than {MAX_EXPRESSION_DEPTH} deep here",
                hint="give the inner part a name on a line of its own",
            )
        if isinstance(node, ast.Compare) and len(node.ops) > MAX_COMPARISONS:
            source.fail(
                node.comparators[MAX_COMPARISONS],
                f"a chain of more than {MAX_COMPARISONS} comparisons",
                found=f"{len(node.ops)} comparisons",
                hint="split the chain: a < b and b < c",
            )
        for child in children(node):
            if isinstance(child, ast.stmt):
                stack.append((child, outer + 1, 0))
            elif (
                isinstance(node, ast.BinOp) and isinstance(child, ast.BinOp) and child is node.left
            ):
                stack.append((child, outer, inner))
            else:
                stack.append((child, outer, inner + isinstance(child, ast.expr)))
    compiling = _EXPRESSION_FRAMES * expressions + _STATEMENT_FRAMES * min(statements, _MAX_BLOCKS)
    return _LEAF_FRAMES + max(compiling, _FLOW_FRAMES * statements)
