"""Programs from a small grammar, with widenings put in at known lines: each that reaches a product is found, no other."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

import perfcheck

NARROW = jnp.bfloat16
SIZE = 8
TABLE = np.linspace(0.0, 1.0, SIZE, dtype=np.float32)


def literal(x):
    return x * np.float32(0.5)  # literal


def constant(x):
    return x + TABLE  # constant


def creation(x):
    return x + jnp.ones(SIZE, jnp.float32)  # creation


def cast(x):
    return x.astype(jnp.float32)  # cast


@jax.custom_vjp
def wide_gradient(x):
    return x


def wide_gradient_bwd(_, g):  # cotangent
    return (jnp.clip(g.astype(jnp.float32), -1, 1),)


wide_gradient.defvjp(lambda x: (x, None), wide_gradient_bwd)

INJECTIONS = {"literal": literal, "constant": constant, "creation": creation, "cast": cast}
LINES = {
    text.rsplit("# ", 1)[1].strip(): number
    for number, text in enumerate(Path(__file__).read_text(encoding="utf-8").splitlines(), 1)
    if text.rstrip().endswith(tuple(f"# {kind}" for kind in (*INJECTIONS, "cotangent")))
}

leaves = st.one_of(
    st.sampled_from(["tanh", "scale", "softmax", "island", "narrow"]).map(lambda name: (name,)),
    st.sampled_from(["dot", "dot", "einsum", "accumulate", "wide_gradient"]).map(lambda name: (name,)),
    st.sampled_from(sorted(INJECTIONS)).map(lambda kind: ("inject", kind)),
)
programs = st.lists(
    st.recursive(
        leaves,
        lambda inner: st.tuples(
            st.sampled_from(["jit", "remat", "scan", "cond", "vmap"]), st.lists(inner, min_size=1, max_size=4).map(tuple)
        ),
        max_leaves=12,
    ),
    min_size=1,
    max_size=7,
)


def run(nodes, w, x):
    for node in nodes:
        x = step(node, w, x)
    return x


def step(node, w, x):
    match node:
        case ("tanh",):
            return jnp.tanh(x)
        case ("scale",):
            return 0.5 * x + 1
        case ("softmax",):
            return jax.nn.softmax(x)
        case ("island",):
            return jax.nn.softmax(x.astype(jnp.float32)).astype(x.dtype)
        case ("narrow",):
            return x.astype(NARROW)
        case ("dot",):
            return x @ w
        case ("einsum",):
            return jnp.einsum("bi,ij->bj", x, w)
        case ("accumulate",):
            return jax.lax.dot(x, w.astype(x.dtype), preferred_element_type=x.dtype)
        case ("wide_gradient",):
            return wide_gradient(x.astype(NARROW) @ w)
        case ("inject", kind):
            return INJECTIONS[kind](x)
        case ("jit", inner):
            return jax.jit(lambda w, x: run(inner, w, x))(w, x)
        case ("remat", inner):
            return jax.checkpoint(lambda w, x: run(inner, w, x))(w, x)
        case ("vmap", inner):
            return jax.vmap(lambda row: run(inner, w, row[None])[0])(x)
        case ("scan", inner):
            return jax.lax.scan(lambda carry, _: (run(inner, w, carry).astype(NARROW), None), x.astype(NARROW), None, length=3)[
                0
            ]
        case ("cond", inner):
            narrow = x.astype(NARROW)
            return jax.lax.cond(narrow[0, 0] > 0, lambda x: run(inner, w, x).astype(NARROW), lambda x: x, narrow)
    raise AssertionError(node)


def expect(nodes, live, found):
    """The root a value carries after these nodes; every root that meets a product is added to `found`."""
    for node in nodes:
        match node:
            case ("narrow",):
                live = None
            case ("dot",) | ("einsum",) | ("accumulate",):
                if live:
                    found.add(live)
            case ("wide_gradient",):
                found.add("cotangent")
                live = None
            case ("inject", kind):
                live = live or kind
            case ("jit" | "remat" | "vmap", inner):
                live = expect(inner, live, found)
            case ("scan" | "cond", inner):
                expect(inner, None, found)
                live = None
    return live


def audit(nodes):
    arguments = jax.ShapeDtypeStruct((SIZE, SIZE), NARROW), jax.ShapeDtypeStruct((4, SIZE), NARROW)
    return perfcheck.performance_check(lambda w, x: run(nodes, w, x), *arguments, min_slowdown=0, warn=False)


@pytest.mark.core
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(programs)
def test_every_injection_that_reaches_a_product_is_found_at_its_line(nodes):
    wanted: set[str] = set()
    expect(nodes, None, wanted)
    report = audit(nodes)
    assert report.program.vjp_error is None
    found = {finding.cause.kind: finding for finding in report}
    assert set(found) == wanted, f"{nodes}\n{report}"
    assert len(report) == len(found), f"{nodes}\n{report}"
    for kind, finding in found.items():
        lines = {location.line for location in (finding.cause.location, *finding.cause.places) if location}
        assert LINES[kind] in lines, f"{nodes}\n{report}"


@pytest.mark.core
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(programs)
def test_an_audit_is_the_same_twice(nodes):
    assert str(audit(nodes)) == str(audit(nodes))
