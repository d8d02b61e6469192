"""The oldest TensorFlow Lite runtime that loads a file, determined from the versions of its ops.

A runtime refuses a file that lists a newer version of an op than it has, even if no op of the graph uses it.
The converter stores in the file which release it expects to be sufficient, but that is too old for some ops
(2.17 for CAST version 7, which first loads in 2.19) and ignores ops that are missing in the converter's
table. The table below was made by loading, in the interpreter of every release, files that each list one op
in one version.

LiteRT continues TensorFlow Lite: LiteRT 1.0 has the ops of 2.18 except three STABLEHLO ops, 1.4 has those of
2.19 and TRANSPOSE version 7, and 2.2 has all ops below and more.
"""

from hsvit_runtime.errors import InputError

# For each release, the ops that are new or have a newer version than in the release before, as OP:VERSION.
# The entry of 2.12 also stands for older releases.
_NEWEST_VERSIONS = {
    "2.12": """
        ABS:5 ADD:4 ADD_N:1 ARG_MAX:3 ARG_MIN:3 ASSIGN_VARIABLE:1 ATAN2:1 AVERAGE_POOL_2D:3
        BATCH_MATMUL:4 BATCH_TO_SPACE_ND:3 BIDIRECTIONAL_SEQUENCE_LSTM:3 BIDIRECTIONAL_SEQUENCE_RNN:3
        BROADCAST_ARGS:1 BROADCAST_TO:3 BUCKETIZE:1 CALL_ONCE:1 CAST:4 CEIL:1 COMPLEX_ABS:1
        CONCATENATION:3 CONV_2D:7 CONV_3D:1 CONV_3D_TRANSPOSE:1 COS:1 CUMSUM:1 DENSIFY:1
        DEPTHWISE_CONV_2D:6 DEPTH_TO_SPACE:2 DEQUANTIZE:5 DIV:2 DYNAMIC_UPDATE_SLICE:1 ELU:1
        EMBEDDING_LOOKUP:3 EMBEDDING_LOOKUP_SPARSE:1 EQUAL:3 EXP:1 EXPAND_DIMS:1 FAKE_QUANT:2 FILL:4
        FLOOR:1 FLOOR_DIV:2 FLOOR_MOD:1 FULLY_CONNECTED:9 GATHER:5 GATHER_ND:3 GELU:2 GREATER:2
        GREATER_EQUAL:2 HARD_SWISH:1 HASHTABLE:1 HASHTABLE_FIND:1 HASHTABLE_IMPORT:1 HASHTABLE_LOOKUP:1
        HASHTABLE_SIZE:1 IF:1 IMAG:1 L2_NORMALIZATION:2 L2_POOL_2D:1 LEAKY_RELU:2 LESS:2 LESS_EQUAL:2
        LOCAL_RESPONSE_NORMALIZATION:1 LOG:1 LOGICAL_AND:1 LOGICAL_NOT:1 LOGICAL_OR:1 LOGISTIC:3
        LOG_SOFTMAX:2 LSH_PROJECTION:1 LSTM:4 MATRIX_DIAG:1 MATRIX_SET_DIAG:1 MAXIMUM:4 MAX_POOL_2D:3
        MEAN:3 MINIMUM:4 MIRROR_PAD:2 MUL:6 MULTINOMIAL:1 NEG:1 NON_MAX_SUPPRESSION_V4:1
        NON_MAX_SUPPRESSION_V5:1 NOT_EQUAL:3 ONE_HOT:1 PACK:3 PAD:4 PADV2:4 POW:1 PRELU:1 QUANTIZE:3
        RANDOM_STANDARD_NORMAL:1 RANDOM_UNIFORM:1 RANGE:1 RANK:1 READ_VARIABLE:1 REAL:1 REDUCE_ALL:1
        REDUCE_ANY:1 REDUCE_MAX:3 REDUCE_MIN:3 REDUCE_PROD:2 RELU:3 RELU6:3 RELU_0_TO_1:1 RELU_N1_TO_1:1
        RESHAPE:1 RESIZE_BILINEAR:4 RESIZE_NEAREST_NEIGHBOR:4 REVERSE_SEQUENCE:1 REVERSE_V2:3 RFFT2D:1
        RNN:3 ROUND:1 RSQRT:2 SCATTER_ND:1 SEGMENT_SUM:1 SELECT:3 SELECT_V2:1 SHAPE:1 SIGN:2 SIN:1
        SKIP_GRAM:1 SLICE:5 SOFTMAX:3 SPACE_TO_BATCH_ND:3 SPACE_TO_DEPTH:2 SPARSE_TO_DENSE:3 SPLIT:4
        SPLIT_V:2 SQRT:1 SQUARE:1 SQUARED_DIFFERENCE:2 SQUEEZE:2 STRIDED_SLICE:6 SUB:5 SUM:2 SVDF:4
        TANH:3 TILE:3 TOPK_V2:2 TRANSPOSE:6 TRANSPOSE_CONV:4 UNIDIRECTIONAL_SEQUENCE_LSTM:4
        UNIDIRECTIONAL_SEQUENCE_RNN:3 UNIQUE:1 UNPACK:4 UNSORTED_SEGMENT_MAX:1 UNSORTED_SEGMENT_MIN:1
        UNSORTED_SEGMENT_PROD:1 UNSORTED_SEGMENT_SUM:1 VAR_HANDLE:1 WHERE:2 WHILE:1 ZEROS_LIKE:1""",
    "2.13": """
        ADD:5 BATCH_TO_SPACE_ND:4 BITCAST:1 BITWISE_XOR:1 CAST:5 DEPTHWISE_CONV_2D:7 EQUAL:4 EXP:2
        FLOOR_DIV:3 FLOOR_MOD:2 FULLY_CONNECTED:10 GATHER:6 GATHER_ND:4 GREATER_EQUAL:3 LESS:3
        MIRROR_PAD:3 MUL:7 RIGHT_SHIFT:1 SPACE_TO_BATCH_ND:4 TOPK_V2:3""",
    "2.14": "CONCATENATION:4 PACK:4 RANGE:2 SELECT:4 SELECT_V2:2 SLICE:6 STRIDED_SLICE:8",
    "2.15": """
        CAST:6 CONV_2D:8 DILATE:1 FULLY_CONNECTED:11 GATHER:7 LOG:2 REDUCE_WINDOW:1 RSQRT:3
        STABLEHLO_RNG_BIT_GENERATOR:1 STABLEHLO_SCATTER:1 TRANSPOSE_CONV:5""",
    "2.16": """
        GATHER_ND:5 STABLEHLO_ADD:1 STABLEHLO_GATHER:1 STABLEHLO_MAXIMUM:1 STABLEHLO_MINIMUM:1
        STABLEHLO_MULTIPLY:1 STABLEHLO_PAD:1 STABLEHLO_REDUCE_WINDOW:1""",
    "2.17": "FULLY_CONNECTED:12",
    "2.18": """
        DEQUANTIZE:6 DYNAMIC_UPDATE_SLICE:2 EMBEDDING_LOOKUP:4 FULLY_CONNECTED:13 STABLEHLO_AND:1
        STABLEHLO_COMPOSITE:1 STABLEHLO_SHIFT_LEFT:1""",
    "2.19": "CAST:7 DYNAMIC_UPDATE_SLICE:3 STABLEHLO_CASE:1",
    "2.20": "DYNAMIC_UPDATE_SLICE:4 PAD:5 PADV2:5 TRANSPOSE:7",
    "2.21": """
        CAST:8 CONCATENATION:5 DEQUANTIZE:7 DYNAMIC_UPDATE_SLICE:5 EMBEDDING_LOOKUP:5 EQUAL:5
        FULLY_CONNECTED:14 NOT_EQUAL:4 QUANTIZE:4 SLICE:7 SQRT:2""",
}
RELEASES = tuple(_NEWEST_VERSIONS)
_NEW_OPS = {
    release: {op: int(version) for op, version in (entry.split(":") for entry in text.split())}
    for release, text in _NEWEST_VERSIONS.items()
}
# The first releases with a tensor type (None: no release yet), and with buffers outside of the flatbuffer,
# which older releases read as empty without an error.
_NEW_TYPES = {"bfloat16": "2.17", "int2": "2.21", "uint4": "2.21", "float8_e4m3fn": None, "float8_e5m2": None}
_DATA_OUTSIDE_FLATBUFFER = "2.14"


def needs(model):
    """The features of a file that are missing in some releases.

    Args:
        model: `tflite_file.Model`.

    Returns:
        list of dict `{feature, runtime}`: the feature, and the first release that has it, or None if no known
        release has it; the newest first. Custom ops are left out, since apps provide them.
    """
    found = {f"{op} version {version}": _first_with(op, version) for op, version in model.op_versions}
    dtypes = {tensor.dtype for graph in model.subgraphs for tensor in graph.tensors}
    found |= {f"{dtype} tensors": _NEW_TYPES.get(dtype, RELEASES[0]) for dtype in sorted(dtypes)}
    if model.data_outside_flatbuffer:
        found["data outside the flatbuffer"] = _DATA_OUTSIDE_FLATBUFFER
    newer = [
        {"feature": name, "runtime": release} for name, release in found.items() if release != RELEASES[0]
    ]
    return sorted(newer, key=lambda need: _age(need["runtime"]), reverse=True)


def oldest(model_needs):
    """The oldest release that has all of `needs(model)`; None if no known release has."""
    return max((need["runtime"] for need in model_needs), key=_age, default=RELEASES[0])


def loads(release, runtime):
    """Whether a runtime loads a file.

    Args:
        release: str or None, the oldest release that loads the file, as returned by `oldest`.
        runtime: str, the runtime, such as "2.16" or "2.16.1".

    Returns:
        bool.

    Raises:
        InputError: `runtime` is not a release, or is older than the oldest known one.
    """
    try:
        version = tuple(int(part) for part in runtime.split("."))
    except ValueError:
        version = ()
    if len(version) < 2 or version[:2] < _numbers(RELEASES[0]):
        raise InputError(
            f"runtime must be a release from {RELEASES[0]} on, such as 2.16; received {runtime!r}"
        )
    return release is not None and _numbers(release) <= version[:2]


def _first_with(op, version):
    return next((release for release, ops in _NEW_OPS.items() if ops.get(op, 0) >= version), None)


def _age(release):
    return len(RELEASES) if release is None else RELEASES.index(release)


def _numbers(release):
    return tuple(int(part) for part in release.split("."))
