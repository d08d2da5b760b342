"""What a matmul costs: floating-point operations and bytes, counted from the jaxpr (XLA's own counts differ by backend)."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from . import source
from .precision import asked_precision, product_dtype, width
from .program import Site
from .report import Matmul
from .targets import Target


def flops(eqn: Any) -> int:
    """Floating-point operations of one run of a matmul equation, a multiplication and an addition counting as two.

    A convolution counts the products of kernel and input elements that exist: those that fall on padding or into the
    gaps of a dilated input are left out, as XLA leaves them out. A symbolic dimension counts as 1. Under explicit sharding,
    and inside a `shard_map`, the count is that of one device.
    """
    return _FLOPS.get(eqn.primitive.name, _product_flops)(eqn) // shards(eqn)


def moved_bytes(eqn: Any) -> int:
    """Bytes of one run of a matmul equation on one device: both factors read and the result written, each once."""
    return sum(_bytes(atom.aval) // _aval_shards(atom.aval) for atom in (*eqn.invars[:2], *eqn.outvars))


def shards(eqn: Any) -> int:
    """Over how many devices an equation's work is divided by the explicit shardings of its operands and result."""
    axes: dict[Any, int] = {}
    for atom in (*eqn.invars[:2], *eqn.outvars):
        axes.update(_sharded_axes(atom.aval))
    return math.prod(axes.values())


def _aval_shards(aval: Any) -> int:
    return math.prod(_sharded_axes(aval).values())


def _sharded_axes(aval: Any) -> dict[Any, int]:
    """Sizes of the mesh axes that an abstract value is explicitly sharded over."""
    sharding = getattr(aval, "sharding", None)
    mesh = getattr(sharding, "mesh", None)
    if mesh is None or getattr(mesh, "empty", True):
        return {}
    sizes = dict(mesh.shape)
    named: dict[Any, int] = {}
    for entry in getattr(sharding, "spec", None) or ():
        for axis in entry if isinstance(entry, tuple) else (entry,):
            if axis in sizes:
                named[axis] = sizes[axis]
    return named


def describe(site: Site, cost: Price, module: str) -> Matmul:
    """The public record of a matmul site with its price and the path of its module."""
    eqn = site.eqn
    trips = site.frame.trips
    return Matmul(
        primitive=eqn.primitive.name,
        operands=tuple(array_text(atom.aval) for atom in eqn.invars[:2]),
        result=array_text(eqn.outvars[0].aval),
        dtype=cost.dtype,
        phase=site.phase,
        recomputed=site.recomputed,
        module=module,
        location=source.place(site)[0],
        flops=cost.flops,
        bytes=cost.bytes,
        seconds=cost.seconds,
        at_least=trips is None,
        precision=asked_precision(eqn.params.get("precision")),
        allowed=site.allowed(),
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Price:
    """What one matmul site costs over all its turns: the dtype it computes in, FLOPs, bytes moved, and predicted seconds
    on a target.
    """

    dtype: str
    flops: int
    bytes: int
    seconds: float


def price(site: Site, target: Target, narrow: Any = None) -> Price:
    """The price of a matmul as it is, or as it would be if everything wider than `narrow` in it had that dtype.

    The time is that of a perfect pipeline, the larger of FLOPs over peak rate and bytes over bandwidth.
    """
    eqn = site.eqn
    trips = site.frame.trips or 1
    precision = eqn.params.get("precision")
    dtype: Any = product_dtype(tuple(eqn.invars[:2]), precision)
    operations = flops(eqn) * trips
    atoms = (*eqn.invars[:2], *eqn.outvars)
    if narrow is None:
        moved = moved_bytes(eqn) * trips
    else:
        moved = trips * sum(
            _size(atom.aval.shape) * min(atom.aval.dtype.itemsize, narrow.itemsize) // _aval_shards(atom.aval) for atom in atoms
        )
        dtype = narrow if width(narrow) < width(dtype) else dtype
    rate = target.rate(str(dtype), asked_precision(precision))
    return Price(str(dtype), operations, moved, max(operations / rate, moved / (1e9 * target.bandwidth)))


def array_text(aval: Any) -> str:
    """An abstract array in short, such as "bfloat16[8,64]"."""
    return f"{aval.dtype}[{','.join(str(size) for size in aval.shape)}]"


def _size(shape: Any) -> int:
    return math.prod(size if isinstance(size, int) else 1 for size in shape)


def _bytes(aval: Any) -> int:
    return _size(aval.shape) * getattr(aval.dtype, "itemsize", 1)


def _complexity(eqn: Any) -> int:
    """Real multiplications and additions in one multiply-add: 2, or 8 between complex numbers."""
    return 8 if getattr(eqn.outvars[0].aval.dtype, "kind", "") == "c" else 2


def _product_flops(eqn: Any) -> int:
    """Of `dot_general` and relatives: result elements times the length of the contraction."""
    (contracting, _), _ = eqn.params["dimension_numbers"]
    depth = _size(eqn.invars[0].aval.shape[axis] for axis in contracting)
    return _complexity(eqn) * _size(eqn.outvars[0].aval.shape) * depth


def _scaled_flops(eqn: Any) -> int:
    """Of `scaled_matmul`, whose factors are [batch, rows, depth] and [batch, columns, depth]."""
    if "dimension_numbers" in eqn.params:
        return _product_flops(eqn)
    return 2 * _size(eqn.outvars[0].aval.shape) * _size(eqn.invars[0].aval.shape[-1:])


def _ragged_flops(eqn: Any) -> int:
    """Of `ragged_dot`: every element of the left factor meets each free column of the right one, whatever its group."""
    left, right = (atom.aval.shape for atom in eqn.invars[:2])
    numbers = eqn.params.get("ragged_dot_dimension_numbers")
    if numbers is None:
        taken = {0, 1}
    else:
        (_, contracting), (_, batch) = numbers.dot_dimension_numbers
        taken = {*contracting, *batch, *numbers.rhs_group_dimensions}
    return 2 * _size(left) * _size(size for axis, size in enumerate(right) if axis not in taken)


def _convolution_flops(eqn: Any) -> int:
    """Of `conv_general_dilated`: output channels and batch times, in each spatial axis, the pairs that exist."""
    params = eqn.params
    numbers = params["dimension_numbers"]
    left, right, out = (atom.aval.shape for atom in (*eqn.invars[:2], *eqn.outvars))
    pairs = 1
    for axis, (low, _) in enumerate(params["padding"]):
        pairs *= _pairs(
            size=left[numbers.lhs_spec[axis + 2]],
            kernel=right[numbers.rhs_spec[axis + 2]],
            results=out[numbers.out_spec[axis + 2]],
            low=low,
            stride=params["window_strides"][axis],
            input_dilation=params["lhs_dilation"][axis],
            kernel_dilation=params["rhs_dilation"][axis],
        )
    batch, channels = out[numbers.out_spec[0]], out[numbers.out_spec[1]]
    return _complexity(eqn) * _size((batch, channels, right[numbers.rhs_spec[1]])) * pairs


def _pairs(size: Any, kernel: Any, results: Any, low: Any, stride: int, input_dilation: int, kernel_dilation: int) -> int:
    """How many (result, kernel element) pairs of one spatial axis meet an element of the input."""
    if not all(isinstance(number, int) for number in (size, kernel, results, low)):
        return 1
    if min(size, kernel, results) <= 0:
        return 0
    last = (size - 1) * input_dilation
    total = 0
    for offset in range(-low, kernel * kernel_dilation - low, kernel_dilation):
        # results r with 0 <= r * stride + offset <= last that fall on an element: a congruence in r
        first = max(0, -(offset // stride))
        end = min(results - 1, (last - offset) // stride)
        if end < first:
            continue
        period = input_dilation // math.gcd(stride, input_dilation)
        start = next((r for r in range(first, first + period) if (r * stride + offset) % input_dilation == 0), None)
        if start is not None and start <= end:
            total += (end - start) // period + 1
    return total


_FLOPS = {
    "conv_general_dilated": _convolution_flops,
    "ragged_dot": _ragged_flops,
    "ragged_dot_general": _ragged_flops,
    "scaled_matmul": _scaled_flops,
    "scaled_dot": _scaled_flops,
}
