"""From a lowered Keras model to the content of an `.onnx` file."""

import importlib.metadata
import json
import logging

import keras
import numpy as np
import tensorflow as tf

from hsvit_keras.artifacts import onnx_integers, onnx_weights
from hsvit_keras.artifacts.integer import ConstantRange
from hsvit_keras.artifacts.keras_model import output_names
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError, MissingPackageError
from hsvit_runtime.onnx_model import DESCRIPTION, GRIDS
from hsvit_runtime.presets import ONNX_OPSETS

OPSET = ONNX_OPSETS[0]
# How each preset stores the weights of a float32 graph.
PRESETS = {
    "float32": lambda graph: None,
    "float16": onnx_weights.store_as_float16,
    "int8": onnx_weights.store_as_integers,
}


def convert(
    lowered,
    *,
    preset="float32",
    opset=OPSET,
    description=None,
    names=None,
    input_type="float32",
    output_type="float32",
):
    """The content of an `.onnx` file.

    The inputs have the names of the model's. The only output is called "logits", or "probabilities" where the
    description says so; several outputs keep the names of the model's dict, or of the layers that give them.

    Args:
        lowered: `keras.Model` made by `hsvit_keras.artifacts.lowering.lower`; where its batch is free, the
            file's is, too.
        preset: "float32"; "float16", weights in half precision, which a runtime casts to float32; or
            "int8", kernels and activations as 8-bit integers, by the ranges of a quantized model.
        opset: int, version of the ONNX operators.
        description: `hsvit_runtime.description.Description` that travels in the file.
        names: list of str, other names of the outputs, in the order of `lowered.outputs`.
        input_type: str, "float32", or "uint8" for the preset "int8".
        output_type: str, likewise.

    Returns:
        bytes.

    Raises:
        InputError: the model does not fit the preset, or ONNX has no form of it.
        MissingPackageError: onnx or tf2onnx is not installed.
    """
    description = description or Description()
    _check(lowered, preset, opset)
    names = names or output_names(lowered, "probabilities" if description.probabilities else "logits")
    proto = _float32_proto(lowered, names, opset)
    _check_operations(proto, lowered, opset)
    PRESETS[preset](proto.graph)
    grids = onnx_integers.make_inputs_integer(proto.graph) if input_type == "uint8" else {}
    if output_type == "uint8":
        grids |= onnx_integers.make_outputs_integer(proto.graph)
    _name_batch(proto.graph)
    _describe(proto, lowered, description, grids)
    return proto.SerializeToString()


def _check(lowered, preset, opset):
    if preset not in PRESETS:
        raise InputError(f"preset has to be one of {', '.join(PRESETS)}; received preset={preset!r}")
    if opset not in range(ONNX_OPSETS[0], ONNX_OPSETS[1] + 1):
        raise InputError(f"opset has to be {ONNX_OPSETS[0]} to {ONNX_OPSETS[1]}; received opset={opset!r}")
    has_ranges = any(isinstance(layer, ConstantRange) for layer in lowered.layers)
    if has_ranges and preset != "int8":
        raise InputError(
            f"{lowered.name!r} is quantized, and preset={preset!r} is not: use preset='int8', or take its "
            "ranges away with hsvit_keras.remove_quantization(model)"
        )
    if preset == "int8" and not has_ranges:
        raise InputError(
            f"preset='int8' needs ranges of activations, and {lowered.name!r} has none: set them with "
            "hsvit_keras.calibrate(model, batches)"
        )


def _float32_proto(lowered, names, opset):
    try:
        import tf2onnx
    except ImportError as error:
        raise MissingPackageError("writing .onnx files needs: pip install onnx tf2onnx") from error
    serve, signature = _traced(lowered, names)
    logging.getLogger("tf2onnx").setLevel(logging.CRITICAL)  # what it logs as an error, we raise
    try:
        proto, _ = tf2onnx.convert.from_function(
            serve, signature, opset, custom_op_handlers={name: (op, []) for name, op in _OPERATIONS.items()}
        )
    except Exception as error:  # the package has no class for what it refuses
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"ONNX cannot hold {lowered.name!r} at opset {opset}: {reason}") from error
    return proto


def _traced(lowered, names):
    """The model as a `tf.function` that gives a dict, and its input signature."""
    inputs = [(tensor._keras_history.operation.name, tensor) for tensor in lowered.inputs]
    signature = [tf.TensorSpec(tensor.shape, tensor.dtype, name=name) for name, tensor in inputs]

    @tf.function(input_signature=signature)
    def serve(*tensors):
        outputs = lowered(keras.tree.pack_sequence_as(lowered.input, tensors), training=False)
        outputs = outputs if isinstance(outputs, dict) else keras.tree.flatten(outputs)
        return outputs if isinstance(outputs, dict) else dict(zip(names, outputs, strict=True))

    # Keras puts grouped convolutions into functions of their own, compiled by XLA, which tf2onnx does not
    # look into. Run eagerly, they are part of this graph.
    tf.config.run_functions_eagerly(True)
    try:
        serve.get_concrete_function()
    finally:
        tf.config.run_functions_eagerly(False)
    return serve, signature


def _erfc(graph, node, name, _):
    """1 - erf(x), for the exact GELU."""
    output = node.output[0]
    shape, dtype = graph.get_shape(output), graph.get_dtype(output)
    graph.remove_node(name)
    one = graph.make_const(f"{name}_one", np.float32(1.0))
    erf = graph.make_node("Erf", node.input, shapes=[shape], dtypes=[dtype])
    graph.make_node(
        "Sub", [one.output[0], erf.output[0]], name=name, outputs=[output], shapes=[shape], dtypes=[dtype]
    )


def _resize(graph, node, name, _):
    """Bilinear resizing to a size: tf2onnx writes factors, by which 6 pixels times 5 / 6 become 4."""
    from onnx import TensorProto

    maps, target = node.input
    output = node.output[0]
    shape, dtype = graph.get_shape(output), graph.get_dtype(output)
    graph.remove_node(name)
    zero, two = (graph.make_const(f"{name}_{n}", np.array([n])).output[0] for n in (0, 2))
    channels_first = graph.make_node("Transpose", [maps], {"perm": [0, 3, 1, 2]}).output[0]
    sizes = graph.make_node("Shape", [channels_first]).output[0]
    sides = graph.make_node("Cast", [target], {"to": TensorProto.INT64}).output[0]
    kept = graph.make_node("Slice", [sizes, zero, two]).output[0]
    sizes = graph.make_node("Concat", [kept, sides], {"axis": 0}).output[0]
    resized = graph.make_node(
        "Resize",
        [channels_first, "", "", sizes],
        {"mode": "linear", "coordinate_transformation_mode": "half_pixel"},
    ).output[0]
    graph.make_node(
        "Transpose", [resized], {"perm": [0, 2, 3, 1]}, name=name, outputs=[output], shapes=[shape],
        dtypes=[dtype],
    )  # fmt: skip


def _quantize(graph, node, name, _):
    """A range as a pair of QuantizeLinear and DequantizeLinear, on TensorFlow's grid of 8-bit integers."""
    from onnx import TensorProto

    output = node.output[0]
    shape, dtype = graph.get_shape(output), graph.get_dtype(output)
    low, high = (np.float32(node.get_attr_value(bound)) for bound in ("min", "max"))
    scale = (high - low) / np.float32(255)
    graph.remove_node(name)
    grid = [
        graph.make_const(f"{name}_scale", scale).output[0],
        graph.make_const(f"{name}_zero_point", np.uint8(np.floor(0.5 - low / scale))).output[0],
    ]
    integers = graph.make_node(
        "QuantizeLinear", [*node.input, *grid], shapes=[shape], dtypes=[TensorProto.UINT8]
    )
    graph.make_node(
        "DequantizeLinear",
        [integers.output[0], *grid],
        name=name,
        outputs=[output],
        shapes=[shape],
        dtypes=[dtype],
    )


# TensorFlow's operations that are written here, not by tf2onnx.
_OPERATIONS = {"Erfc": _erfc, "FakeQuantWithMinMaxArgs": _quantize, "ResizeBilinear": _resize}


def _check_operations(proto, lowered, opset):
    """Raises `InputError` where tf2onnx left an operation that ONNX does not have."""
    from onnx import defs

    unknown = {node.op_type for node in proto.graph.node if not defs.has(node.op_type, opset, node.domain)}
    if unknown:
        raise InputError(
            f"ONNX cannot hold {lowered.name!r} at opset {opset}: there is no operation for "
            f"{', '.join(sorted(unknown))}"
        )


def _name_batch(graph):
    """Gives a free first axis of inputs and outputs the name "batch", and forgets shapes with others."""
    for value in (*graph.input, *graph.output):
        axis = value.type.tensor_type.shape.dim[0]
        if not axis.HasField("dim_value"):
            axis.dim_param = "batch"
    del graph.value_info[:]


def _describe(proto, lowered, description, grids):
    proto.producer_name, proto.producer_version = "hsvit_keras", importlib.metadata.version("hsvit-keras")
    proto.graph.name = lowered.name
    proto.doc_string = ""
    proto.metadata_props.add(key=DESCRIPTION, value=json.dumps(description.to_json()))
    if grids:
        proto.metadata_props.add(key=GRIDS, value=json.dumps(grids))
