"""Makes artifacts of the parts of an HSViT, for several devices, and a manifest that says how to join them.

    python -m export.shards --model=M.keras --num_shards=4 --preset=float32 --output=DIR

`DIR/manifest.json` names a file for each shard, from an image to the class tokens `(1, its groups, dim)`, and
one for the head, from the mean token of all groups that arrived, `(1, 1, dim)`, to logits. With several
numbers, as in `--num_shards=1,2,4,8,16`, each gets a folder `DIR/N`, and all shards are timed.
"""

import math
import pathlib

from absl import flags

from command_line import bounded, commands
from export.converting import options, summary
from hsvit_runtime import files, outputs

FLAGS = flags.FLAGS


def define_flags():
    options.define_flags()
    options.define_preset_flags()
    bounded.integers(
        "num_shards", None, "How many parts; several numbers for a table.", 1, bounded.MANY, required=True
    )


def main(_):
    from export.sharding import shard_files
    from hsvit_keras.artifacts.writing import in_float32
    from hsvit_keras.model_files import load_model

    counts = FLAGS.num_shards
    folder = pathlib.Path(FLAGS.output)
    _check_output(folder, counts)
    request = options.parts_request(in_float32(load_model(FLAGS.model)))
    if len(counts) == 1:
        manifest = shard_files.write(request, counts[0], folder)
        print(f"wrote {folder / 'manifest.json'}: {_summary(manifest)}")
        print("\n".join(summary.parity(manifest)))
        return
    manifests = {}
    for count in counts:
        manifests[count] = shard_files.write(request, count, folder / str(count))
        print(f"wrote {folder / str(count)}: {_summary(manifests[count])}", flush=True)
    rows = shard_files.compare(folder, manifests)
    files.write_json(folder / "shards.json", {**_common_facts(manifests[counts[0]]), "rows": rows})
    print(shard_files.table(rows))
    print(f"wrote {folder / 'shards.json'}")


def _check_output(folder, counts):
    """Raises `FileError` if there is a manifest or a table in the way that is another program's."""
    manifest = outputs.json_with("manifest_version", "shards")
    places = {folder / "manifest.json": manifest}
    if len(counts) > 1:
        places = {folder / str(count) / "manifest.json": manifest for count in counts}
        places[folder / "shards.json"] = outputs.json_with("num_groups", "rows")
    for path, kind in places.items():
        if path.exists():
            outputs.check(path, kind)


def _common_facts(manifest):
    """What all rows of the table have in common, such as the bytes sent to a node and back for each group."""
    return {
        "model": manifest["model"],
        "preset": manifest["preset"],
        "num_groups": manifest["num_groups"],
        "image_bytes": math.prod(manifest["input"]["shape"]),  # as pixels of 8 bits
        "group_bytes": 4 * manifest["dim"],
    }


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
