"""Small graphs that tell what the delegate of TensorFlow Lite 2.16 runs: single ops, and ops in a row."""

import copy

import numpy as np

from tests.runtime.litert import test_xnnpack
from tests.runtime.litert.builder import Builder
from tests.runtime.litert.test_xnnpack import CONV, INT8, Graph

GIVERS = (
    test_xnnpack.add_pools,
    test_xnnpack.add_elementwise,
    test_xnnpack.add_convolutions,
    test_xnnpack.add_matrix_products,
    test_xnnpack.add_rearranging,
    test_xnnpack.add_conversions,
)
CHAINS = ("RELU", "RELU RSQRT NEG", "RSQRT", "RSQRT RELU", "RELU RSQRT RSQRT NEG RSQRT ABS")


def graphs():
    """All graphs: dict from a name to the content of a file."""
    found = {}
    for add in (*GIVERS, _add_means, _add_others):
        graph = Graph()
        add(graph)
        for number, content in enumerate(_alone(graph)):
            kind = graph.reasons[number][0]
            found[f"{add.__name__.removeprefix('_')} {number} {kind}"] = content
    found |= {f"chain {kinds}": _chain(kinds.split()) for kinds in CHAINS}
    return (
        found | {f"net {seed}": _net(seed) for seed in range(12)} | {"unpacked kernels": _unpacked_kernels()}
    )


def _alone(graph):
    """Each op of a graph in a file of its own."""
    raw, ops, codes = (
        graph.builder.raw,
        graph.builder.raw.subgraphs[0].operators,
        graph.builder.raw.operatorCodes,
    )
    for op in ops:
        only = copy.copy(op)
        only.opcodeIndex = 0
        raw.subgraphs[0].operators, raw.operatorCodes = [only], [codes[op.opcodeIndex]]
        yield graph.builder.content([index for index in op.inputs if index in graph.given], list(op.outputs))


def _add_means(g):
    for shape in ((2, 4, 4, 3), (2, 4, 3), (2, 3), (1, 2, 4, 4, 3)):
        for axes in ([-1], [1], [1, 2], [2, 1], [2], [0]):
            if max(axes) >= len(shape):
                continue
            reduced = [axis % len(shape) for axis in axes]
            for keep in (False, True):
                made = [1 if i in reduced else n for i, n in enumerate(shape) if keep or i not in reduced]
                for given in ({}, INT8):
                    g.add(None, "MEAN", [g.x(shape, **given), g.c(axes, "int32")], [made], "ReducerOptions",
                          keepDims=keep, result=given, version=2 if given else 1)  # fmt: skip


def _add_others(g):
    """Ops that stand in for others, as older_ops.py and few_token_attention.py write them."""
    for kind in ("SQRT", "SQUARE", "MINIMUM"):
        g.add(None, kind, [g.x((2, 4)), g.c(2.0)] if kind == "MINIMUM" else [g.x((2, 4))], [(2, 4)])
    g.add(None, "DIV", [g.c(1.0), g.x((2, 4))], [(2, 4)], "DivOptions")
    for kind in ("MUL", "SUB"):
        g.add(None, kind, [g.x((3, 1, 2, 4)), g.x((1, 3, 2, 4))], [(3, 3, 2, 4)], f"{kind.title()}Options")
        g.add(None, kind, [g.x((3, 3, 1, 4)), g.x((1, 3, 2, 4))], [(3, 3, 2, 4)], f"{kind.title()}Options")
    g.add(None, "FULLY_CONNECTED", [g.x((6, 4)), g.c(np.ones((1, 4))), -1], [(6, 1)], "FullyConnectedOptions",
          version=6)  # fmt: skip
    kernel = g.c(np.ones((64, 1, 1, 16)))
    inputs = [g.x((1, 9, 1, 64)), kernel, g.c(np.zeros(64))]
    g.add(None, "CONV_2D", inputs, [(1, 9, 1, 64)], "Conv2DOptions", **CONV, version=6)
    g.add(None, "AVERAGE_POOL_2D", [g.x((9, 9, 8, 4))], [(9, 1, 8, 4)], "Pool2DOptions", filterHeight=9,
          filterWidth=1, strideH=1, strideW=1, padding=1)  # fmt: skip
    g.add(None, "BATCH_MATMUL", [g.x((1, 2, 5, 4)), g.x((1, 2, 4, 3))], [(1, 2, 5, 3)], "BatchMatMulOptions")
    for approximate in (False, True):
        g.add(None, "GELU", [g.x((2, 4))], [(2, 4)], "GeluOptions", approximate=approximate)


def _chain(kinds):
    builder = Builder()
    tensors = [builder.tensor((1, 4)) for _ in range(len(kinds) + 1)]
    for kind, before, after in zip(kinds, tensors[:-1], tensors[1:], strict=True):
        builder.op(kind, [before], [after])
    return builder.content(tensors[:1], tensors[-1:])


def _net(seed):
    """Additions and other ops of tensors drawn among those before them; all that nobody reads goes out."""
    chance, builder = np.random.default_rng(seed), Builder()
    tensors = [builder.tensor((1, 4))]
    unread = set()
    for _ in range(24):
        made = builder.tensor((1, 4))
        kind = chance.choice(["ADD", "RELU", "NEG", "RSQRT", "COS"])
        read = [int(number) for number in chance.choice(tensors[-8:], 2 if kind == "ADD" else 1)]
        builder.op(kind, read, [made], "AddOptions" if kind == "ADD" else None)
        unread = (unread - set(read)) | {made}
        tensors.append(made)
    return builder.content(tensors[:1], sorted(unread))


def _unpacked_kernels():
    """Dense layers whose kernels are converted from 8 and 16 bits, and one such constant for another op."""
    g, made = Graph(), []
    for number, given in enumerate(({"dtype": "int8", "scale": 0.1}, {"dtype": "float16"})):
        kernel, out = g.builder.tensor((4, 4)), g.builder.tensor((2, 4))
        g.builder.op("DEQUANTIZE", [g.c(np.ones((4, 4)), **given)], [kernel], version=3 - number)
        g.builder.op("FULLY_CONNECTED", [g.x((2, 4)), kernel, -1], [out], "FullyConnectedOptions")
        made.append(out)
    constant, out = g.builder.tensor((2, 4)), g.builder.tensor((2, 4))
    g.builder.op("DEQUANTIZE", [g.c(np.ones((2, 4)), "float16")], [constant], version=3)
    g.builder.op("RSQRT", [constant], [out])
    return g.builder.content(g.given, [*made, out])
