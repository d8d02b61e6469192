"""Makes artifacts of the parts of an HSViT, for several devices, and a manifest that tells how to join them.

    python -m export.shards --model=M.keras --num_shards=4 --preset=float32 --output=DIR

`DIR/manifest.json` names a file for each shard, from an image to the class tokens `(1, its groups, dim)`, and
one for the head: shown the mean token of all groups that arrived, `(1, 1, dim)`, it answers with logits. With
several numbers, as in `--num_shards=1,2,4,8,16`, each gets a folder `DIR/N`, and all shards are timed.
"""

import dataclasses
import hashlib
import math
import pathlib

import numpy as np
from absl import flags

from command_line import commands
from export import tflite
from export.serving.joining import Head
from export.serving.manifest import VERSION
from hsvit_keras.artifacts import writing
from hsvit_keras.backends import require_backend
from hsvit_runtime import files, model_files
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS


def define_flags():
    writing.define_flags()
    tflite.define_preset_flags()
    flags.DEFINE_list("num_shards", None, "How many parts; several numbers for a table.", required=True)


def main(_):
    request, folder = writing.request_of_flags(), pathlib.Path(FLAGS.output)
    settings = FLAGS.preset, FLAGS.runtime, tflite.calibration_of_flags()
    counts = commands.integers("num_shards", FLAGS.num_shards)
    if len(counts) == 1:
        manifest = export(request, counts[0], *settings)
        print(f"wrote {folder / 'manifest.json'}: {_summary(manifest)}")
        writing.print_parity(manifest)
        return
    manifests = {}
    for count in counts:
        part = dataclasses.replace(request, output=str(folder / str(count)))
        manifests[count] = export(part, count, *settings)
        print(f"wrote {folder / str(count)}: {_summary(manifests[count])}", flush=True)
    rows = compare(folder, manifests)
    files.write_json(folder / "shards.json", {**_messages(manifests[counts[0]]), "rows": rows})
    print(table(rows))
    print(f"wrote {folder / 'shards.json'}")


def _messages(manifest):
    """What a table says of all its rows: among others what goes to a node and comes back of a group."""
    return {
        "model": manifest["model"],
        "preset": manifest["preset"],
        "num_groups": manifest["num_groups"],
        "image_bytes": math.prod(manifest["input"]["shape"]),  # as pixels of 8 bits
        "group_bytes": 4 * manifest["dim"],
    }


def export(request, num_shards, preset="float32", runtime=None, calibration=None):
    """Writes the artifacts of all parts, of the head, and the manifest.

    Args:
        request: `writing.Request`; its `output` is a folder.
        num_shards: int, see `hsvit_keras.shard`.
        preset: str, one of `tflite.PRESETS`; the head, which is tiny, is always float32.
        runtime: str such as "2.16", the oldest runtime that has to load them; the current one by default.
        calibration: `tflite.Calibration`, for int8: each shard has ranges of its own.

    Returns:
        dict, the manifest that was written.

    Raises:
        ValueError: the model cannot be cut so, a part cannot be held, or all together answer differently.
        OSError: a file cannot be read or written.
    """
    require_backend("tensorflow")
    from hsvit_keras import shard
    from hsvit_keras.artifacts.lowering import lower
    from hsvit_keras.compression.sharding import join

    if request.batch != 1:
        raise InputError(f"shards answer one image at a time; received batch={request.batch}")
    oldest, folder = tflite.version(runtime), pathlib.Path(request.output)
    model = model_files.load_model(request.model)
    mean, std = writing.normalization_of(request, model)
    names = writing.class_names(request.labels or model_files.labels_beside(request.model), model)
    parts, head = shard(model, num_shards)
    if preset == "int8":
        parts = [tflite.with_ranges(part, request, calibration, mean, std) for part in parts]
    inside = {"mean": mean, "std": std} if request.pixels else {}
    contents = {
        f"shard{i}.tflite": tflite.convert(lower(part, 1, **inside), preset, oldest)
        for i, part in enumerate(parts)
    }
    contents["head.tflite"] = tflite.convert(lower(_of_one_token(head)), "float32", oldest)
    answer = _joined(contents)
    original = join(parts, head) if preset == "int8" else model
    parity = writing.compare(request, original, answer, mean, std)
    writing.check_parity(parity, tflite.PRESETS[preset].limits)

    facts = {name: tflite.facts_of(content, runtime) for name, content in contents.items()}
    *shards, head_file = [_described(name, contents[name], facts[name]) for name in contents]
    sizes = [part.output_shape[1] for part in parts]
    groups = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    manifest = {
        "manifest_version": VERSION,
        "model": model.name,
        "preset": preset,
        "class_names": names,
        "num_groups": sum(sizes),
        "dim": parts[0].output_shape[-1],
        "input": {**facts["shard0.tflite"]["input"], "pixels": request.pixels, "mean": mean, "std": std},
        "join": "the mean of the class tokens of all groups that arrived is the head's input",
        "shards": [{**entry, "groups": part.tolist()} for entry, part in zip(shards, groups, strict=True)],
        "head": {**head_file, "input": facts["head.tflite"]["input"]["shape"]},
        "parity": parity,
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        with files.replacing(folder / name) as file:
            file.write_bytes(content)
    files.write_json(folder / "manifest.json", manifest)
    return manifest


def _joined(contents):
    """A function from an image to logits, of the contents of all shards and, last, of the head."""
    *shards, head = contents.values()
    shards, head = [tflite.runner(shard) for shard in shards], Head(head)

    def answer(image):
        return head(np.concatenate([shard(image)[0] for shard in shards]))[np.newaxis]

    return answer


def _of_one_token(head):
    """The head for the mean token: a mean of one."""
    import keras

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
    from measuring import timing

    where = [(count, i) for count, manifest in manifests.items() for i in range(len(manifest["shards"]))]
    functions = []
    for count, i in where:
        run = tflite.runner((folder / str(count) / f"shard{i}.tflite").read_bytes())
        image = np.zeros(manifests[count]["input"]["shape"], "float32")
        functions.append(lambda run=run, image=image: run(image))
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
    """The rows in lines."""
    lines = [f"{'shards':>6} {'M MACs':>8} {'kB':>8} {'p50 ms':>8} {'ratio':>6}   of the slowest shard"]
    for row in rows:
        lines.append(
            f"{row['shards']:6} {row['multiply_adds'] / 1e6:8.2f} {row['bytes'] / 1e3:8.1f} "
            f"{row['p50_ms']:8.3f} {row['ratio']:6.2f}"
        )
    return "\n".join(lines)


def _summary(manifest):
    shards = manifest["shards"]
    return (
        f"{len(shards)} shard(s) of {manifest['num_groups']} groups, {manifest['preset']}, "
        f"{max(shard['bytes'] for shard in shards) / 1e3:,.1f} kB and "
        f"{max(shard['multiply_adds'] for shard in shards) / 1e6:,.2f} M MACs at most, "
        f"{max(shard['partitions'] for shard in shards)} partition(s)"
    )


if __name__ == "__main__":
    define_flags()
    commands.run(main)
