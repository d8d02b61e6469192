"""A small HSViT of four groups in four shards, with the Keras parts that it was made from."""

import dataclasses
import pathlib

import keras
import pytest

import hsvit_keras

SIZE = (16, 16, 1)


@dataclasses.dataclass
class Sharded:
    """`manifest`: path; `parts` and `head`: `keras.Model`s."""

    manifest: pathlib.Path
    parts: list
    head: keras.Model


@pytest.fixture(scope="session")
def sharded(tmp_path_factory):
    if keras.backend.backend() != "tensorflow":
        pytest.skip("conversion needs the TensorFlow backend")
    from export import shards
    from hsvit_keras.artifacts import writing

    folder = tmp_path_factory.mktemp("shards")
    keras.utils.set_random_seed(0)
    model = hsvit_keras.create_model("hsvit_tiny", input_shape=SIZE)
    model.save(folder / "model.keras")
    (folder / "labels.txt").write_text("\n".join(f"digit {label}" for label in range(10)))
    request = writing.Request(
        str(folder / "model.keras"), str(folder), samples=4, mean=0.25, std=0.5, pixels=True
    )
    shards.export(request, 4)
    return Sharded(folder / "manifest.json", *hsvit_keras.shard(model, 4))
