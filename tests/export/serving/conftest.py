"""A small HSViT of four groups in four shards, with the Keras parts that it was made from."""

import dataclasses
import pathlib
import warnings

import keras
import pytest

import hsvit_keras


@dataclasses.dataclass
class Sharded:
    """`manifest`: path; `parts` and `head`: `keras.Model`s."""

    manifest: pathlib.Path
    parts: list
    head: keras.Model


@pytest.fixture(autouse=True)
def for_ray(ray_environment):
    """Each of these tests may start Ray."""


@pytest.fixture(scope="session")
def sharded(tmp_path_factory):
    if keras.backend.backend() != "tensorflow":
        pytest.skip("conversion needs the TensorFlow backend")
    from export.sharding import shard_files
    from tests.export import hsvits

    folder, model = tmp_path_factory.mktemp("shards"), hsvits.small(groups=4)
    shard_files.write(hsvits.request(model, samples=4), 4, folder)
    return Sharded(folder / "manifest.json", *hsvit_keras.shard(model, 4))


@pytest.fixture(scope="session")
def engine():
    """The module `export.serving.engine`, whose import of Ray Serve gives deprecation warnings of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from export.serving import engine
    return engine
