"""Trees that a function takes and gives back: which outputs have the structure of which arguments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax

from .program import State


def carried_states(arguments: list[tuple[str, Any, int]], outputs: list[Any]) -> tuple[State, ...]:
    """The states of a function.

    `arguments` are (name, tree, position of the tree's first leaf among the program's inputs); `outputs` are trees whose
    leaves are positions of the program's outputs, -1 for what was not traced. A tree is compared whole and by its
    children, a single leaf never: any array looks like any other.
    """
    taken = [found for name, tree, first in arguments for found in _subtrees(name, tree, first)]
    states = []
    for output in outputs:
        for _, given, _ in _subtrees("", output, 0):
            structure = jax.tree_util.tree_structure(given)
            positions = jax.tree_util.tree_leaves(given)
            for name, tree, first in taken:
                if jax.tree_util.tree_structure(tree) == structure:
                    pairs = tuple((first + k, position) for k, position in enumerate(positions) if position >= 0)
                    states.append(State(name, pairs))
    return tuple(states)


def _subtrees(name: str, tree: Any, first: int) -> Iterator[tuple[str, Any, int]]:
    """The tree and its children that are trees themselves, each with the position of its first leaf."""
    if not jax.tree_util.all_leaves([tree]):
        yield name, tree, first
        for child in jax.tree_util.tree_leaves(tree, is_leaf=lambda node: node is not tree):
            count = len(jax.tree_util.tree_leaves(child))
            if count and not jax.tree_util.all_leaves([child]):
                yield name, child, first
            first += count
