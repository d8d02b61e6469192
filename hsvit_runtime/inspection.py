"""What is inside a .tflite file, anyone's: tensors, ops, arithmetic, delegation, oldest runtime."""

import collections
import hashlib
import math
import pathlib
import textwrap

from hsvit_runtime.litert import delegation, runtimes, tflite_file, xnnpack

_WIDTH = 100
_NO_FLATBUFFER = "not a valid Flatbuffer"


def inspect(path_or_bytes, *, runtime=None):
    """Reads a file and loads it in LiteRT, without running it.

    Args:
        path_or_bytes: path of a `.tflite` file, or its content.
        runtime: str, a TensorFlow Lite release to ask about, such as "2.16".

    Returns:
        dict, ready for JSON:

        `bytes`, `sha256`
        `inputs`, `outputs`: list of `{name, shape, dtype, scale, zero_point}`; unknown sizes are None.
        `ops`, `macs`: dict from kind of op to how many there are, and to their multiply-adds. Unknown
            sizes count as 1, the body of a loop once.
        `total_macs`
        `partitions`: int, what XNNPACK runs in one piece. None if LiteRT could not load the file.
        `fully_delegated`: bool, one partition holds everything; None as above.
        `undelegated_ops`: list of `{op, count, reason}`; None as above.
        `delegation_problem`: str, why LiteRT could not load the file, or None.
        `litert_version`: str, the LiteRT that was watched; older runtimes delegate less.
        `custom_ops`, `flex_ops`: list of names that an app would have to bring.
        `quantized_tensors`: list of `{name, dtype, scale, zero_point, axis, constant}`, scale and zero
            point being lists, axis None where there is one scale.
        `weights_bytes`: dict from dtype to bytes of constants.
        `minimum_runtime`: str, the oldest TensorFlow Lite release that loads the file; "2.12" stands for
            itself and older ones, None for newer ones than the last that is known.
        `runtime_needs`: list of `{feature, runtime}`, what takes more than 2.12.
        `declared_runtime`: str, what the file says itself, or None.
        `runtime`, `loads_on_runtime`: the release asked about, and whether it is new enough.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no `.tflite` file or is damaged.
    """
    import ai_edge_litert

    content, name = _content(path_or_bytes)
    tflite_file.check_header(content, name)
    observed = delegation.observe(content)
    if _NO_FLATBUFFER in observed.get("problem", ""):
        raise ValueError(f"{name} is damaged or cut short: its parts do not lie where it says")
    model = tflite_file.read(content, name)
    needs = runtimes.needs(model)
    oldest = runtimes.oldest(needs)
    main_graph = model.subgraphs[0]
    ops = [op for graph in model.subgraphs for op in graph.ops]
    try:
        macs = _sum((op.kind, multiply_adds(op)) for op in ops)
    except (LookupError, AttributeError) as error:
        raise ValueError(f"{name} is damaged: an op lacks an input, an output or a dimension") from error
    custom = {op.kind for op in ops if op.custom}
    flex = {kind for kind in custom if kind.startswith("Flex")}
    return {
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "inputs": [_described(tensor) for tensor in main_graph.inputs],
        "outputs": [_described(tensor) for tensor in main_graph.outputs],
        "ops": _sum((op.kind, 1) for op in ops),
        "macs": macs,
        "total_macs": sum(macs.values()),
        **_delegation(model, observed),
        "litert_version": ai_edge_litert.__version__,
        "custom_ops": sorted(custom - flex),
        "flex_ops": sorted(flex),
        "quantized_tensors": [
            _quantization(tensor) for graph in model.subgraphs for tensor in graph.tensors if tensor.scales
        ],
        "weights_bytes": _weights_bytes(model),
        "minimum_runtime": oldest,
        "runtime_needs": needs,
        "declared_runtime": _declared_runtime(model),
        "runtime": runtime,
        "loads_on_runtime": None if runtime is None else runtimes.loads(oldest, runtime),
    }


def multiply_adds(op):
    """The multiply-adds of one op; 0 for kinds that are no convolution or matrix product.

    Args:
        op: `tflite_file.Op`.
    """
    if op.kind in ("CONV_2D", "FULLY_CONNECTED"):  # kernel: outputs, height, width, inputs of a group
        return math.prod((*op.outputs[0].shape, *op.inputs[1].shape[1:]))
    if op.kind == "DEPTHWISE_CONV_2D":  # kernel: 1, height, width, channels
        return math.prod((*op.outputs[0].shape, *op.inputs[1].shape[:-1]))
    if op.kind == "TRANSPOSE_CONV":  # kernel: outputs, height, width, inputs; each input goes to all of it
        return math.prod((*op.inputs[2].shape, *op.inputs[1].shape[:-1]))
    if op.kind == "BATCH_MATMUL":
        return math.prod((*op.outputs[0].shape, op.inputs[0].shape[-2 if op.option("adjX") else -1]))
    return 0


def _content(path_or_bytes):
    if isinstance(path_or_bytes, bytes | bytearray | memoryview):
        return bytes(path_or_bytes), "the model"
    path = pathlib.Path(path_or_bytes)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, a .tflite file is needed")
    if not path.exists():
        raise FileNotFoundError(f"there is no file {path}")
    return path.read_bytes(), str(path)


def _delegation(model, observed):
    if "problem" in observed:
        unknown = dict.fromkeys(("partitions", "fully_delegated", "undelegated_ops"))
        return unknown | {"delegation_problem": observed["problem"]}
    outside = delegation.left_out(model.subgraphs[0], observed["partitions"])
    reasons = [(op.kind, xnnpack.reason(op) or "no rule known") for op in outside]
    for graph in model.subgraphs[1:]:
        reasons += [(op.kind, f"in graph {graph.name!r}, which is not looked into") for op in graph.ops]
    left = [
        {"op": kind, "count": count, "reason": reason}
        for (kind, reason), count in collections.Counter(reasons).items()
    ]
    partitions = len(observed["partitions"])
    return {
        "partitions": partitions,
        "fully_delegated": partitions == 1 and not left,
        "undelegated_ops": left,
        "delegation_problem": None,
    }


def _sum(pairs):
    """A dict with the sum for each key, in the order of first appearance."""
    total = {}
    for key, value in pairs:
        total[key] = total.get(key, 0) + value
    return total


def _described(tensor):
    return {
        "name": tensor.name,
        "shape": list(tensor.signature),
        "dtype": tensor.dtype,
        "scale": tensor.scales[0] if tensor.scales else None,
        "zero_point": tensor.zero_points[0] if tensor.zero_points else None,
    }


def _quantization(tensor):
    return {
        "name": tensor.name,
        "dtype": tensor.dtype,
        "scale": list(tensor.scales),
        "zero_point": list(tensor.zero_points),
        "axis": tensor.axis,
        "constant": tensor.data is not None,
    }


def _weights_bytes(model):
    """Bytes of constants by dtype; a buffer that several tensors share counts once."""
    constants = [tensor for graph in model.subgraphs for tensor in graph.tensors if tensor.data is not None]
    buffers = {tensor.buffer: (tensor.dtype, len(tensor.data)) for tensor in constants}
    return _sum(buffers.values())


def _declared_runtime(model):
    text = model.metadata.get("min_runtime_version", b"").rstrip(b"\0").decode("ascii", "replace")
    return text or None


# ---- for people ------------------------------------------------------------------------------------
def summary(name, report):
    """Lines of at most 100 columns that tell what is in a report.

    Args:
        name: str or path, the file.
        report: dict of `inspect`.

    Returns:
        list of str.
    """
    lines = [str(name), ""]
    for side in ("inputs", "outputs"):
        lines += [_tensor_line(side[:-1], tensor) for tensor in report[side]]
    lines += ["", *_op_table(report), ""]
    facts = {
        "XNNPACK": _delegation_text(report),
        "custom ops": _names(report["custom_ops"]),
        "Flex ops": _names(report["flex_ops"]),
        "runtime": _runtime_text(report),
        "quantized": _quantized_text(report),
        "weights": ", ".join(f"{dtype} {size:,}" for dtype, size in report["weights_bytes"].items())
        or "none",
        "bytes": f"{report['bytes']:,}",
        "SHA-256": report["sha256"],
    }
    for title, text in facts.items():
        lines += _wrapped(f"{title:<12}", text)
    return lines


def _tensor_line(side, tensor):
    shape = " x ".join("?" if size is None else str(size) for size in tensor["shape"]) or "scalar"
    grid = (
        "" if tensor["scale"] is None else f", scale {tensor['scale']:g}, zero point {tensor['zero_point']}"
    )
    facts = f"{tensor['dtype']} {shape}{grid}"
    return f"{side:<6}  {_clipped(tensor['name'], _WIDTH - 11 - len(facts))}  {facts}"


def _op_table(report):
    names = {kind: _clipped(kind, 40) for kind in report["ops"]}
    width = max(map(len, ["total", *names.values()]))
    lines = [f"{'op':<{width}}  {'count':>6}  {'MACs':>15}  in XNNPACK"]
    for kind, count in report["ops"].items():
        start = f"{names[kind]:<{width}}  {count:>6,}  {report['macs'][kind]:>15,}  "
        lines += _wrapped(start, _delegated_text(report, kind, count))
    total = sum(report["ops"].values())
    return [*lines, f"{'total':<{width}}  {total:>6,}  {report['total_macs']:>15,}"]


def _delegated_text(report, kind, count):
    if report["undelegated_ops"] is None:
        return "unknown"
    left = [entry for entry in report["undelegated_ops"] if entry["op"] == kind]
    if not left:
        return "yes"
    inside = count - sum(entry["count"] for entry in left)
    reasons = "; ".join(
        entry["reason"] if len(left) == 1 else f"{entry['count']}: {entry['reason']}" for entry in left
    )
    return f"{inside} of {count}: {reasons}" if inside else f"no: {reasons}"


def _delegation_text(report):
    if report["partitions"] is None:
        return f"unknown, since LiteRT does not load the file: {report['delegation_problem']}"
    partitions = f"{report['partitions']} partition{'s' * (report['partitions'] != 1)}"
    left = sum(entry["count"] for entry in report["undelegated_ops"])
    outside = f"{left} ops left out" if left else "nothing left out"
    return f"{partitions}, {outside} (LiteRT {report['litert_version']})"


def _runtime_text(report):
    oldest, needs = report["minimum_runtime"], report["runtime_needs"]
    because = ", ".join(need["feature"] for need in needs if need["runtime"] == oldest)
    if oldest is None:
        text = f"newer than TensorFlow Lite {runtimes.RELEASES[-1]}, for {because}"
    elif not because:
        text = f"TensorFlow Lite {oldest} or older"
    else:
        text = f"TensorFlow Lite {oldest} or newer, for {because}"
    if report["custom_ops"] or report["flex_ops"]:
        text += ", with the custom ops added"
    declared = report["declared_runtime"]
    return f"{text}; the file itself says {declared}" if declared else text


def _quantized_text(report):
    dtypes = collections.Counter(tensor["dtype"] for tensor in report["quantized_tensors"])
    return ", ".join(f"{count} {dtype}" for dtype, count in dtypes.items()) or "none"


def _names(ops):
    return ", ".join(_clipped(op, 40) for op in ops) or "none"


def _clipped(name, width):
    name = _printable(name)
    return name if len(name) <= width else name[: max(width - 3, 0)] + "..."


def _printable(text):
    """Text from the file, without what would steer a terminal."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


def _wrapped(start, text):
    """`text` after `start`, further lines indented to stay under it."""
    indent = " " * len(start)
    return textwrap.wrap(_printable(text), _WIDTH, initial_indent=start, subsequent_indent=indent)
