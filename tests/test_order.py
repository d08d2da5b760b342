"""Components come dependencies first, and deep graphs need no recursion."""

import dataclasses

from hypothesis import given, strategies as st

from perfcheck.order import strongly_connected


@dataclasses.dataclass(frozen=True)
class Node:
    serial: int


def components(edges, start):
    nodes = {number: Node(number) for number in range(len(edges))}
    found = strongly_connected(nodes[start], lambda node: [nodes[k] for k in edges[node.serial]], set())
    return [sorted(node.serial for node in component) for component in found]


def reachable(edges, start):
    seen, stack = set(), [start]
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack.extend(edges[node])
    return seen


@given(st.integers(1, 9).flatmap(lambda n: st.lists(st.lists(st.integers(0, n - 1), max_size=4), min_size=n, max_size=n)))
def test_components_are_those_that_reach_each_other(edges):
    found = components(edges, 0)
    assert sorted(node for component in found for node in component) == sorted(reachable(edges, 0))
    position = {node: k for k, component in enumerate(found) for node in component}
    for component in found:
        for node in component:
            assert set(component) == {
                other for other in position if other in reachable(edges, node) and node in reachable(edges, other)
            }
            assert all(position[target] <= position[node] for target in edges[node])


def test_a_long_chain():
    assert len(components([[k + 1] for k in range(50_000)] + [[]], 0)) == 50_001
