"""Each rule against LiteRT: it leaves what a rule speaks of, and takes all that no rule speaks of."""

import numpy as np
import pytest

pytest.importorskip("ai_edge_litert")

from hsvit_runtime.litert import delegation, tflite_file, xnnpack
from tests.runtime.litert.builder import Builder

INT8 = {"dtype": "int8", "scale": 0.1, "zero_point": 3}
UINT8 = {"dtype": "uint8", "scale": 0.1, "zero_point": 128}
INT32 = {"dtype": "int32"}
CONV = {"strideW": 1, "strideH": 1, "dilationWFactor": 1, "dilationHFactor": 1}
FUSED_TANH = {"fusedActivationFunction": 4}
UNARY = """
    ABS CEIL COS ELU EXP FLOOR HARD_SWISH LOG LOGISTIC NEG RELU RELU6 RELU_N1_TO_1 ROUND RSQRT SIN SQRT SQUARE
    TANH"""


class Graph:
    """Ops side by side, each from inputs of its own to outputs of its own."""

    def __init__(self):
        self.builder = Builder()
        self.given, self.made, self.reasons = [], [], []

    def x(self, shape, dtype="float32", **quantization):
        self.given.append(self.builder.tensor(shape, dtype, **quantization))
        return self.given[-1]

    def c(self, values, dtype="float32", **quantization):
        return self.builder.constant(values, dtype, **quantization)

    def add(self, reason, kind, inputs, shapes, options=None, *, result=None, **rest):
        outputs = [self.builder.tensor(shape, **(result or {})) for shape in shapes]
        self.made += outputs
        self.builder.op(kind, inputs, outputs, options, **rest)
        self.reasons.append((kind, reason))

    def judged(self):
        """The main graph, and whether LiteRT left each op."""
        content = self.builder.content(self.given, self.made)
        observed = delegation.observe(content)
        assert "partitions" in observed, observed
        graph = tflite_file.read(content, "graph").subgraphs[0]
        left = delegation.undelegated_ops(graph, observed["partitions"])
        return graph, [op in left for op in graph.ops]


def add_pools(g):
    def pool(reason, kind, window, stride, **options):
        size = -(-8 // stride)
        sides = {"filterHeight": window[0], "filterWidth": window[1], "strideH": stride, "strideW": stride}
        g.add(reason, kind, [g.x((1, 8, 8, 2))], [(1, size, size, 2)], "Pool2DOptions", **sides, **options)

    for kind in ("MAX_POOL_2D", "AVERAGE_POOL_2D"):
        pool(None, kind, (3, 3), 2)
        pool(None, kind, (3, 3), 3)
        pool("its stride 4 is larger than its window 3", kind, (3, 3), 4)
        pool("its stride 3 is larger than its window 2", kind, (3, 2), 3)
        pool("a fused TANH", kind, (2, 2), 2, **FUSED_TANH)
    options = {"filterHeight": 2, "filterWidth": 2, "strideH": 2, "strideW": 2, "version": 2}
    for reason, kind in (
        (None, "MAX_POOL_2D"),
        ("XNNPACK supports float32 only, its type is int8", "AVERAGE_POOL_2D"),
    ):
        g.add(
            reason, kind, [g.x((1, 8, 8, 2), **INT8)], [(1, 4, 4, 2)], "Pool2DOptions", result=INT8, **options
        )


def add_elementwise(g):
    shape = (1, 4)
    for kind in UNARY.split():
        g.add(None, kind, [g.x(shape)], [shape])
    g.add(None, "GELU", [g.x(shape)], [shape], "GeluOptions")
    for kind in ("MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
        g.add(None, kind, [g.x(shape), g.x(shape)], [shape])
    for kind in ("ADD", "SUB", "MUL", "DIV"):
        options = f"{kind.title()}Options"
        g.add(None, kind, [g.x(shape), g.x(shape)], [shape], options, fusedActivationFunction=1)
        g.add("a fused TANH", kind, [g.x(shape), g.x(shape)], [shape], options, **FUSED_TANH)
        known = "float32 only" if kind == "DIV" else "float32 and int8"
        ints = [g.x(shape, **INT32), g.x(shape, **INT32)]
        g.add(f"XNNPACK supports {known}, its type is int32", kind, ints, [shape], options, result=INT32)
        eights = [g.x(shape, **INT8), g.x(shape, **INT8)]
        reason = "XNNPACK supports float32 only, its type is int8" if kind == "DIV" else None
        g.add(reason, kind, eights, [shape], options, result=INT8, version=2)
    for kind in ("RELU", "RELU6", "RSQRT", "EXP"):
        reason = "XNNPACK supports float32 only, its type is int8"
        g.add(reason, kind, [g.x(shape, **INT8)], [shape], result=INT8, version=2)
    for kind in ("SIGN", "RELU_0_TO_1", "LOG_SOFTMAX"):
        g.add("XNNPACK has no such op", kind, [g.x(shape)], [shape])
    g.add("XNNPACK has no such op", "POW", [g.x(shape), g.x(shape)], [shape])
    g.add(None, "SOFTMAX", [g.x(shape)], [shape], "SoftmaxOptions", beta=1.0)
    g.add("its beta is 2, XNNPACK supports 1", "SOFTMAX", [g.x(shape)], [shape], "SoftmaxOptions", beta=2.0)
    g.add(None, "RELU", [g.x((1,) * 6)], [(1,) * 6])
    g.add("a tensor with more than 6 dimensions", "RELU", [g.x((1,) * 7)], [(1,) * 7])
    g.add("a tensor without elements", "RELU", [g.x((0, 4))], [(0, 4)])


def add_convolutions(g):
    shape, ones = (1, 4, 4, 2), np.ones
    channel = {"dtype": "int8", "scale": [0.1, 0.2]}
    for kind, options, kernel_shape, axis, extra in (
        ("CONV_2D", "Conv2DOptions", (2, 3, 3, 2), 0, CONV),
        ("DEPTHWISE_CONV_2D", "DepthwiseConv2DOptions", (1, 3, 3, 2), 3, CONV | {"depthMultiplier": 1}),
    ):

        def conv(reason, x, kernel, bias, result=None, kind=kind, options=options, **attributes):
            g.add(reason, kind, [x, kernel, bias], [shape], options, result=result, version=3, **attributes)

        kernel, bias = g.c(ones(kernel_shape)), g.c([0, 0])
        int_bias = g.c([0, 0], "int32", scale=[0.01, 0.02])
        conv(None, g.x(shape), kernel, bias, **extra)
        conv("a fused TANH", g.x(shape), kernel, bias, **extra, **FUSED_TANH)
        reason = "its kernel is computed at run time, XNNPACK needs a constant"
        conv(reason, g.x(shape), g.x(kernel_shape), bias, **extra)
        reason = "its bias is computed at run time, XNNPACK needs a constant"
        conv(reason, g.x(shape), kernel, g.x((2,)), **extra)
        reason = None if kind == "CONV_2D" else "its input is float32 and its kernel is int8"
        conv(reason, g.x(shape), g.c(ones(kernel_shape), **channel, axis=axis), bias, **extra)
        quantized = g.c(ones(kernel_shape), **channel, axis=axis)
        conv(None, g.x(shape, **INT8), quantized, int_bias, INT8, **extra)
    askew = g.c(ones((2, 3, 3, 2)), **channel, axis=3)
    reason = "its kernel has scales along axis 3 instead of 0"
    rest = {"options": "Conv2DOptions", "result": INT8, "version": 3}
    g.add(reason, "CONV_2D", [g.x(shape, **INT8), askew, int_bias], [shape], **rest, **CONV)


def add_matrix_products(g):
    def dense(reason, x, kernel, bias=-1, result=None, version=5):
        outputs = [(2, 2)]
        g.add(reason, "FULLY_CONNECTED", [x, kernel, bias], outputs, "FullyConnectedOptions", result=result,
              version=version)  # fmt: skip

    kernel = g.c(np.ones((2, 4)))
    eight = g.c(np.ones((2, 4)), "int8", scale=0.1)
    dense(None, g.x((2, 4)), kernel)
    dense(None, g.x((2, 4)), eight)
    dense(None, g.x((2, 4)), g.c(np.ones((2, 4)), "int8", scale=[0.1, 0.2]), version=12)
    dense(None, g.x((2, 4), **INT8), eight, g.c([0, 0], "int32", scale=0.01), INT8)
    dense("its kernel is computed at run time, XNNPACK needs a constant", g.x((2, 4)), g.x((2, 4)))
    dense("it is version 8, for sparse kernels", g.x((2, 4)), kernel, version=8)

    def matmul(reason, left, right, result=None, version=1, **attributes):
        rest = {"options": "BatchMatMulOptions", "result": result, "version": version, **attributes}
        g.add(reason, "BATCH_MATMUL", [left, right], [(2, 5, 3)], **rest)

    symmetric = INT8 | {"zero_point": 0}
    matmul(None, g.x((2, 5, 4)), g.x((2, 4, 3)))
    matmul(None, g.x((2, 4, 5)), g.x((2, 3, 4)), adjX=True, adjY=True)
    matmul(None, g.x((2, 5, 4), **INT8), g.x((2, 4, 3), **symmetric), INT8, 2)
    reason = "the zero point of its int8 right operand is not 0"
    matmul(reason, g.x((2, 5, 4), **INT8), g.x((2, 4, 3), **INT8), INT8, 2)
    channel = g.c(np.ones((2, 4, 3)), "int8", scale=[0.1, 0.2, 0.3], axis=2)
    matmul("its int8 right operand has a scale for each channel", g.x((2, 5, 4), **INT8), channel, INT8, 2)

    sizes = g.c([1, 4, 4, 2], "int32")
    kernel = g.c(np.ones((2, 2, 2, 3)))
    for reason, size in (
        (None, sizes),
        ("its output size is computed at run time, XNNPACK needs a constant", g.x((4,), **INT32)),
    ):
        inputs = [size, kernel, g.x((1, 2, 2, 3))]
        g.add(reason, "TRANSPOSE_CONV", inputs, [(1, 4, 4, 2)], "TransposeConvOptions", strideW=2, strideH=2)


def add_rearranging(g):
    no_op, shape = "XNNPACK has no such op", (1, 4, 4, 4)
    four = g.c([1, 4, 4, 2], "int32")

    def strided(reason, x, made, strides=(1, 1, 1, 1), begin=None, result=None, **masks):
        begin = g.c([0] * 4, "int32") if begin is None else begin
        inputs = [x, begin, four, g.c(strides, "int32")]
        g.add(reason, "STRIDED_SLICE", inputs, [made], "StridedSliceOptions", result=result, **masks)

    strided(None, g.x(shape), (1, 4, 4, 2))
    strided("it drops an axis (shrink_axis)", g.x(shape), (4, 4, 2), shrinkAxisMask=1)
    strided("it adds an axis (new_axis)", g.x((4, 4, 4)), (1, 4, 4, 2), newAxisMask=1)
    strided("its strides are not all 1", g.x(shape), (1, 2, 4, 2), (1, 2, 1, 1))
    reason = "its begin is computed at run time, XNNPACK needs a constant"
    strided(reason, g.x(shape), (1, 4, 4, 2), begin=g.x((4,), **INT32))
    reason = "XNNPACK supports float32 and int8, its type is int32"
    strided(reason, g.x(shape, **INT32), (1, 4, 4, 2), result=INT32)

    for reason, size in ((None, 1), ("its size is -1 (to the end) instead of a number", -1)):
        inputs = [g.x(shape), g.c([0] * 4, "int32"), g.c([size, 4, 4, 2], "int32")]
        g.add(reason, "SLICE", inputs, [(1, 4, 4, 2)], "SliceOptions")

    for count in (2, 5, 6):
        reason = None if count < 6 else "it has 6 inputs, XNNPACK supports up to 5"
        inputs = [g.x((1, 2)) for _ in range(count)]
        g.add(reason, "CONCATENATION", inputs, [(1, 2 * count)], "ConcatenationOptions", axis=1)
    for count in (1, 2, 4, 5):
        reason = None if count in (2, 4) else f"it splits into {count}, XNNPACK into 2 to 4"
        inputs = [g.c(1, "int32"), g.x((1, 2 * count))]
        g.add(reason, "SPLIT", inputs, [(1, 2)] * count, "SplitOptions", numSplits=count)
    inputs = [g.x((1, 4)), g.c([2, 2], "int32"), g.c(1, "int32")]
    g.add(no_op, "SPLIT_V", inputs, [(1, 2)] * 2, "SplitVOptions", numSplits=2)
    g.add(no_op, "PACK", [g.x((2,)), g.x((2,))], [(2, 2)], "PackOptions", valuesCount=2)
    g.add(no_op, "EXPAND_DIMS", [g.x((2,)), g.c(0, "int32")], [(1, 2)], "ExpandDimsOptions")
    g.add(no_op, "GATHER", [g.x((3, 2)), g.c([0], "int32")], [(1, 2)], "GatherOptions")

    new_shape = g.c([1, 4], "int32")
    g.add(None, "RESHAPE", [g.x((2, 2)), new_shape], [(1, 4)], "ReshapeOptions")
    g.add(None, "RESHAPE", [g.x((2, 2))], [(1, 4)], "ReshapeOptions", newShape=[1, 4])
    g.add(None, "RESHAPE", [g.x((2, 2), **INT8), new_shape], [(1, 4)], result=INT8)
    reason = "its input and output are quantized differently"
    g.add(reason, "RESHAPE", [g.x((2, 2), **INT8), new_shape], [(1, 4)], result=INT8 | {"scale": 0.2})
    reason = "int8 values without a scale"
    g.add(reason, "RESHAPE", [g.x((2, 2), "int8"), new_shape], [(1, 4)], result={"dtype": "int8"})
    reason = "its new shape is computed at run time, XNNPACK needs a constant"
    g.add(reason, "RESHAPE", [g.x((2, 2)), g.x((2,), **INT32)], [(1, 4)])

    for kind, options, constant, made in (
        ("TRANSPOSE", "TransposeOptions", [1, 0], (4, 1)),
        ("PAD", "PadOptions", [[0, 0], [1, 1]], (1, 6)),
        ("MEAN", "ReducerOptions", [1], (1,)),
        ("SUM", "ReducerOptions", [1], (1,)),
        ("REDUCE_MAX", "ReducerOptions", [1], (1,)),
        ("REDUCE_MIN", "ReducerOptions", [1], (1,)),
    ):
        g.add(None, kind, [g.x((1, 4)), g.c(constant, "int32")], [made], options)
        what = {"TRANSPOSE": "permutation", "PAD": "padding"}.get(kind, "list of axes")
        reason = f"its {what} is computed at run time, XNNPACK needs a constant"
        g.add(reason, kind, [g.x((1, 4)), g.x(np.shape(constant), **INT32)], [made], options)
    g.add(None, "RESIZE_BILINEAR", [g.x((1, 2, 2, 1)), g.c([4, 4], "int32")], [(1, 4, 4, 1)],
          "ResizeBilinearOptions")  # fmt: skip
    reason = "its new size is computed at run time, XNNPACK needs a constant"
    g.add(reason, "RESIZE_BILINEAR", [g.x((1, 2, 2, 1)), g.x((2,), **INT32)], [(1, 4, 4, 1)],
          "ResizeBilinearOptions")  # fmt: skip


def add_conversions(g):
    g.add(None, "QUANTIZE", [g.x((4,))], [(4,)], result=INT8)
    g.add(None, "QUANTIZE", [g.x((4,), **INT8)], [(4,)], result=INT8 | {"scale": 0.2})
    g.add("from uint8 to int8", "QUANTIZE", [g.x((4,), **UINT8)], [(4,)], result=INT8)
    coarse = INT8 | {"scale": 100.0}
    g.add("its scales differ by a factor of 1000", "QUANTIZE", [g.x((4,), **coarse)], [(4,)], result=INT8)
    for source in (INT8, UINT8):
        g.add(None, "DEQUANTIZE", [g.x((4,), **source)], [(4,)], version=2)
    reason = "XNNPACK supports float32 and int8, its type is float16"
    g.add(reason, "DEQUANTIZE", [g.x((4,), "float16")], [(4,)], version=3)


@pytest.mark.parametrize(
    "add",
    [add_pools, add_elementwise, add_convolutions, add_matrix_products, add_rearranging, add_conversions],
)
def test_rules_say_what_litert_does(add):
    graph = Graph()
    add(graph)
    main_graph, left = graph.judged()
    told = [(op.kind, xnnpack.reason(op)) for op in main_graph.ops]
    assert told == graph.reasons
    assert left == [reason is not None for _, reason in graph.reasons]


def test_weights_unpacked_from_float16_count_as_constants():
    g = Graph()
    kernel, made = g.builder.tensor((2, 4)), g.builder.tensor((4,))
    g.builder.op("DEQUANTIZE", [g.c(np.ones((2, 4)), "float16")], [kernel], version=3)
    g.builder.op(
        "FULLY_CONNECTED", [g.x((2, 4)), kernel, -1], [g.builder.tensor((2, 2))], "FullyConnectedOptions"
    )
    g.builder.op("DEQUANTIZE", [g.c(np.ones(4), "float16")], [made], version=3)
    g.builder.op("SIGN", [made], [g.builder.tensor((4,))])
    g.made = [main for op in g.builder.raw.subgraphs[0].operators[1::2] for main in op.outputs]
    graph, left = g.judged()
    assert left == [False, False, True, True]
    assert xnnpack.reason(graph.ops[1]) is None
    assert xnnpack.reason(graph.ops[2]) == "it converts a constant for an op that is not delegated"


def test_kernel_on_values_whose_rank_is_unknown():
    g = Graph()
    between = g.builder.tensor(())
    g.builder.op("RESHAPE", [g.x((1, 32)), g.x((4,), **INT32)], [between])
    g.add(
        "its input's shape is known only at run time",
        "CONV_2D",
        [between, g.c(np.ones((2, 1, 1, 2))), g.c([0, 0])],
        [(1, 4, 4, 2)],
        "Conv2DOptions",
        **CONV,
    )
    graph, left = g.judged()
    assert left == [True, True]
    assert xnnpack.reason(graph.ops[1]) == g.reasons[0][1]


def test_custom_op_is_one():
    op = tflite_file.Op("Mine", 1, True, [], [], None)
    assert xnnpack.reason(op) == "a custom op"


def test_no_reason_where_no_rule_tells():
    g = Graph()
    steep = {"dtype": "int8", "scale": 1000.0}
    g.builder.op("LEAKY_RELU", [g.x((4,), **steep)], [g.builder.tensor((4,), **INT8)], "LeakyReluOptions",
                 version=2, alpha=0.5)  # fmt: skip
    g.made = [1]
    graph, left = g.judged()
    assert left == [True]
    assert xnnpack.reason(graph.ops[0]) is None
