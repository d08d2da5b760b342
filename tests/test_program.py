"""Frames, phases and the borders of nested jaxprs."""

import jax
import jax.numpy as jnp
import pytest

from perfcheck.bodies import bodies
from perfcheck.program import Outline
from perfcheck.tracing import program_of

pytestmark = pytest.mark.core


def outline(function, *shapes):
    program = program_of(jax.make_jaxpr(function)(*(jnp.zeros(shape, jnp.float32) for shape in shapes)))
    return list(Outline().sites(program.root()))


def call(function, *shapes):
    jaxpr = jax.make_jaxpr(function)(*(jnp.zeros(shape, jnp.float32) for shape in shapes))
    return next(eqn for eqn in jaxpr.jaxpr.eqns if bodies(eqn))


def test_scan_counts_its_turns_and_pairs_its_carry():
    w = jnp.ones((8, 8))
    eqn = call(lambda x, ys: jax.lax.scan(lambda c, y: (jnp.tanh(c @ w + y), c), x, ys), (2, 8), (5, 2, 8))
    (body,) = bodies(eqn)
    assert body.trips == 5
    assert body.carries == ((0, 1),)
    assert body.operands == tuple(eqn.invars)
    assert body.results == (0, 1)


def test_while_has_a_body_and_a_condition_that_share_the_start():
    w = jnp.ones((8, 8))
    eqn = call(lambda x: jax.lax.while_loop(lambda c: c[0, 0] < 9, lambda c: c @ w, x), (8, 8))
    body, condition = bodies(eqn)
    assert body.trips is None
    assert condition.operands[-1] is body.operands[-1] is eqn.invars[-1]


def test_cond_drops_its_index():
    eqn = call(lambda x: jax.lax.cond(x[0, 0] > 0, lambda x: x @ x, lambda x: x, x), (8, 8))
    assert [body.operands for body in bodies(eqn)] == [tuple(eqn.invars[1:])] * 2


def test_sites_of_a_helper_that_is_called_twice():
    helper = jax.jit(lambda x: x @ x)
    sites = outline(lambda x: helper(helper(x)), (8, 8))
    assert len(sites) == 2
    assert sites[0].frame is not sites[1].frame


def test_trips_multiply_through_nested_scans():
    def inner(c, _):
        return c @ c, None

    def outer(c, _):
        return jax.lax.scan(inner, c, None, length=4)[0], None

    (site,) = outline(lambda x: jax.lax.scan(outer, x, None, length=3)[0], (8, 8))
    assert site.frame.trips == 12


@pytest.mark.parametrize(
    "wrap", [lambda f: f, jax.jit, jax.checkpoint, lambda f: jax.vmap(f)], ids=["plain", "jit", "remat", "vmap"]
)
def test_phases_of_a_gradient_taken_by_the_program_itself(wrap):
    shape = (3, 8, 8)
    sites = outline(lambda x: jax.grad(lambda x: jnp.sum(jnp.sin(wrap(lambda x: x @ x)(x))))(x), shape)
    assert {site.phase for site in sites} == {"forward", "backward"}


def test_forward_mode_inside_a_gradient_is_forward():
    """jvp of a transpose is forward work of the outer derivative: only the outermost transform decides."""
    sites = outline(lambda x: jax.jvp(jax.grad(lambda x: jnp.sum(x @ x)), (x,), (x,))[1], (8, 8))
    assert {site.phase for site in sites} == {"forward"}


def test_recomputation_is_told_apart():
    def loss(x):
        return jnp.sum(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x @ x) @ x))(x))

    sites = outline(jax.grad(loss), (8, 8))
    again = [site for site in sites if site.recomputed]
    assert again
    assert all(site.phase == "backward" for site in again)
