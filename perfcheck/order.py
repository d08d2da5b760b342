"""Strongly connected components, in an order that puts what a node depends on before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol, TypeVar


class Numbered(Protocol):
    """A node of a graph, known by its number."""

    serial: int


N = TypeVar("N", bound=Numbered)


def strongly_connected(start: N, edges: Callable[[N], list[N]], seen: set[int]) -> Iterator[list[N]]:
    """Components of the graph behind `start`, dependencies first (Tarjan 1972, without recursion).

    `edges` is asked once a node. Nodes in `seen` are taken as done; every node that is yielded is added to it.
    """
    index: dict[int, int] = {start.serial: 0}
    low = {start.serial: 0}
    open_nodes = [start]
    is_open = {start.serial}
    work: list[tuple[N, Iterator[N]]] = [(start, iter(edges(start)))]
    while work:
        node, following = work[-1]
        here = node.serial
        for target in following:
            there = target.serial
            if there in seen:
                continue
            if there not in index:
                index[there] = low[there] = len(index)
                open_nodes.append(target)
                is_open.add(there)
                work.append((target, iter(edges(target))))
                break
            if there in is_open:
                low[here] = min(low[here], index[there])
        else:
            work.pop()
            if work:
                below = work[-1][0].serial
                low[below] = min(low[below], low[here])
            if low[here] == index[here]:
                component: list[N] = []
                while not component or component[-1] is not node:
                    component.append(open_nodes.pop())
                    is_open.discard(component[-1].serial)
                    seen.add(component[-1].serial)
                yield component
