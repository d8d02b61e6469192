"""Sites of real bundles: a tiny classifier of digits, a detector, a model of clips, and their artifacts."""

import keras
import pytest

from export.web_site import writing
from tests.export import bundles
from tests.web import browsers


@pytest.fixture(scope="package")
def bundle(tmp_path_factory):
    """Folder of the bundle; not to be changed."""
    models = make(bundles.make_models, tmp_path_factory)
    return write_bundle(models, models / "bundle", ["dynamic", "int8"], name="tiny", images=6)


@pytest.fixture(scope="package")
def detector(tmp_path_factory):
    """Folder of a detector and its artifacts."""
    return make(bundles.make_detector, tmp_path_factory)


@pytest.fixture(scope="package")
def video_model(tmp_path_factory):
    """Folder of a model of clips and its artifact."""
    return make(bundles.make_video_model, tmp_path_factory)


def make(make_models, tmp_path_factory):
    if keras.backend.backend() != "tensorflow":
        pytest.skip("conversion needs the TensorFlow backend")
    return make_models(tmp_path_factory.mktemp("models"))


def write_bundle(models, output, artifacts, **changes):
    """Writes the bundle of a folder of models; gives its folder."""
    from export.bundles import writing as bundle_writing

    mobile = [str(models / f"{name}.tflite") for name in artifacts]
    original = bundle_writing.Original(str(models / "model.keras"), mobile)
    bundle_writing.write(bundle_writing.Request([original], str(output), **changes))
    return output


@pytest.fixture(scope="package")
def playwright():
    browsers.require(browsers.CHROMIUM, "chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        yield started


@pytest.fixture(scope="package")
def site(bundle, tmp_path_factory):
    """Folder of the site; not to be changed."""
    browsers.require("any", "any")
    folder = tmp_path_factory.mktemp("sites") / "site"
    writing.write(bundle, folder)
    return folder
