"""Artifacts of the parts of an HSViT, and the manifest that says how to join them."""

import contextlib
import hashlib
import pathlib

import keras
import numpy as np

from command_line.tables import table as text_table
from export.serving.head import Head
from export.serving.manifest import VERSION
from export.sharding.requests import check_with_original, parity_of
from hsvit_keras import shard
from hsvit_keras.artifacts import comparison
from hsvit_keras.artifacts.keras_model import predict
from hsvit_keras.artifacts.lowering import lower
from hsvit_keras.artifacts.tflite_conversion import convert
from hsvit_keras.artifacts.writing import tflite_facts
from hsvit_keras.compression.model_inputs import input_name
from hsvit_keras.compression.sharding import join
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.tasks import TASKS
from hsvit_runtime import files
from hsvit_runtime.presets import PRESETS
from hsvit_runtime.tflite_model import TFLiteModel
from measuring import timing


def write(request, num_shards, folder):
    """Writes the artifacts of all parts, of the head, and the manifest.

    Args:
        request: `export.sharding.requests.Request`. The head, which is tiny, is float32 in every preset.
        num_shards: int, see `hsvit_keras.shard`.
        folder: str or path, made where it is not there.

    Returns:
        dict, the manifest that was written.

    Raises:
        InputError: the model cannot be cut so, a part cannot be held, or all together compute something else.
        OSError: a file cannot be written.
    """
    folder, model = pathlib.Path(folder), request.model
    parts, head = shard(model, num_shards)
    parts = request.with_ranges(parts)
    contents = {
        f"shard{i}.tflite": convert(lower(part), request.preset, runtime=request.runtime)
        for i, part in enumerate(parts)
    }
    contents["head.tflite"] = convert(lower(_of_one_token(head)), "float32", runtime=request.runtime)
    original = join(parts, head) if request.preset == "int8" else model
    expected = predict(original, {input_name(original.inputs[0]): request.samples.inputs})
    parity = parity_of(request, expected, _joined(contents))
    comparison.check(parity, PRESETS[request.preset].limits)
    check_with_original(request, model, _joined(contents))
    manifest = _manifest(request, parts, contents, parity)
    folder.mkdir(parents=True, exist_ok=True)
    _replace_together(folder, contents, manifest)
    return manifest


def _replace_together(folder, contents, manifest):
    """Replaces no file before all are written, so that a full disk leaves what was there."""
    with contextlib.ExitStack() as stack:
        for name, content in contents.items():
            stack.enter_context(files.replacing(folder / name)).write_bytes(content)
        files.write_json(stack.enter_context(files.replacing(folder / "manifest.json")), manifest)


def _manifest(request, parts, contents, parity):
    facts = {name: tflite_facts(content, request.runtime) for name, content in contents.items()}
    *shards, head = [_described(name, contents[name], facts[name]) for name in contents]
    sizes = [part.output_shape[1] for part in parts]
    groups = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    description = description_of(request.model)
    return {
        "manifest_version": VERSION,
        "model": request.model.name,
        "preset": request.preset,
        "class_names": description.class_names and list(description.class_names),
        "data_set": description.data_set,
        "num_groups": sum(sizes),
        "dim": parts[0].output_shape[-1],
        "input": {**facts["shard0.tflite"]["inputs"][0], "range": list(request.input_range)},
        "join": "the mean of the class tokens of all groups that arrived is the head's input",
        "shards": [{**entry, "groups": part.tolist()} for entry, part in zip(shards, groups, strict=True)],
        "head": {**head, "input": facts["head.tflite"]["inputs"][0]["shape"]},
        "task": TASKS["classification"].to_json(),
        "parity": parity,
    }


def _joined(contents):
    """A function from one image to logits, of the contents of all shards and, last, of the head."""
    *shards, head = contents.values()
    shards, head = [TFLiteModel(content) for content in shards], Head(head)

    def run(image):
        tokens = [model.predict_only(image)[0] for model in shards]
        return head(np.concatenate(tokens))[np.newaxis]

    return run


def _of_one_token(head):
    """The head for the mean token: a mean of one."""
    token = keras.Input((1, head.input_shape[-1]), batch_size=1, name="mean_class_token")
    copy = keras.models.clone_model(head, input_tensors=token)
    copy.set_weights(head.get_weights())
    return copy


def _described(name, content, facts):
    """What the manifest says of a file."""
    return {
        "file": name,
        "bytes": len(content),
        "sha256": hashlib.sha256(content).hexdigest(),
        "multiply_adds": facts["total_macs"],
        "partitions": facts["partitions"],
        "fully_delegated": facts["fully_delegated"],
        "minimum_runtime": facts["minimum_runtime"],
    }


def compare(folder, manifests):
    """What the slowest shard costs, for several numbers of shards; all are timed in turn, in one run.

    Args:
        folder: path with a folder for each number of shards.
        manifests: dict from the number of shards to the manifest.

    Returns:
        list of dicts: for each number of shards `shards`, and of the slowest `multiply_adds`, `bytes`,
        `samples_ms`, their median `p50_ms`, and `ratio` of that to one shard's, or to the first row's.
    """
    where = [(count, i) for count, manifest in manifests.items() for i in range(len(manifest["shards"]))]
    functions = []
    for count, i in where:
        model = TFLiteModel(folder / str(count) / f"shard{i}.tflite")
        (tensor,) = model.inputs
        inputs = {tensor.name: np.zeros(tensor.shape, tensor.dtype)}
        functions.append(lambda model=model, inputs=inputs: model.run(inputs))
    timed = timing.time_interleaved(functions, blocks=20, runs=10, warmup=2)
    samples = {key: np.ravel(one.blocks_ms) for key, one in zip(where, timed, strict=True)}
    rows = []
    for count, manifest in manifests.items():
        slowest = max(range(count), key=lambda i: np.median(samples[count, i]))
        rows.append(
            {
                "shards": count,
                "multiply_adds": manifest["shards"][slowest]["multiply_adds"],
                "bytes": manifest["shards"][slowest]["bytes"],
                "p50_ms": float(np.median(samples[count, slowest])),
                "samples_ms": samples[count, slowest].tolist(),
            }
        )
    return [{**row, "ratio": row["p50_ms"] / rows[0]["p50_ms"]} for row in rows]


def table(rows):
    """The rows of `compare` as text; the numbers are those of the slowest shard."""
    return text_table(
        ["shards", "M MACs of the slowest", "kB", "p50 ms", "ratio"],
        [
            [
                row["shards"],
                f"{row['multiply_adds'] / 1e6:.2f}",
                f"{row['bytes'] / 1e3:.1f}",
                f"{row['p50_ms']:.3f}",
                f"{row['ratio']:.2f}",
            ]
            for row in rows
        ],
    )
