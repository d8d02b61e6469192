"""What JAX computes for a function."""

import math

import jax
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal

from hsvit_keras.compression.counting.programs import Program, Step
from hsvit_runtime.errors import InputError

# What they compute is not part of the trace.
_OPAQUE = {
    "call_tf", "custom_linear_solve", "ffi_call", "io_callback", "pallas_call", "pure_callback", "ragged_dot",
    "ragged_dot_general", "scaled_matmul_wrapper",
}  # fmt: skip


def traced(function, inputs):
    """The `Program` of a function.

    Args:
        function: takes and returns tensors.
        inputs: list of (shape, dtype) of its arguments.

    Returns:
        `Program`.

    Raises:
        InputError: it computes something that the trace does not show.
    """
    return _program(jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(*tensor) for tensor in inputs)).jaxpr)


def _program(jaxpr):
    return Program(_values(jaxpr.invars), _values(jaxpr.outvars), [_step(x) for x in jaxpr.eqns])


def _values(variables):
    """Variables, and in place of literals something that no step computes."""
    return [None if isinstance(x, Literal) else x for x in variables]


def _step(equation):
    name, parameters = equation.primitive.name, equation.params
    if name in _OPAQUE:
        raise InputError(f"multiply-adds of JAX's {name!r} are unknown")
    multiply_adds, calls, branches = 0, [], []
    if name == "dot_general":
        multiply_adds = _dot(equation)
    elif name == "conv_general_dilated":
        multiply_adds = _convolution(equation)
    elif name == "cond":
        branches = [_program(branch.jaxpr) for branch in parameters["branches"]]
    else:
        times = {"scan": parameters.get("length"), "while": None}.get(name, 1)
        inner = [x for x in parameters.values() if isinstance(x, ClosedJaxpr | Jaxpr)]
        calls = [(_program(getattr(x, "jaxpr", x)), times) for x in inner]
    return Step(name, _values(equation.invars), equation.outvars, multiply_adds, calls, branches)


def _dot(equation):
    (axes, _), _ = equation.params["dimension_numbers"]
    left = equation.invars[0].aval.shape
    return math.prod(equation.outvars[0].aval.shape) * math.prod(left[axis] for axis in axes)


def _convolution(equation):
    """Each entry of the input or of the output, whatever has less, meets an entry of each kernel it reads.

    The input has less in transposed convolutions.
    """
    maps, kernels = (variable.aval.shape for variable in equation.invars)
    outputs = math.prod(equation.outvars[0].aval.shape)
    features, channels, *window = (kernels[axis] for axis in equation.params["dimension_numbers"].rhs_spec)
    by_input = math.prod(maps) * features // equation.params["feature_group_count"]
    return min(by_input, outputs * channels) * math.prod(window)
