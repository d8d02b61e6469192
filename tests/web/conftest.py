"""A site of a real bundle: a tiny classifier of digits and its artifacts."""

import keras
import pytest

from export.web_site import writing
from tests.export import bundles
from tests.web import browsers


@pytest.fixture(scope="package")
def bundle(tmp_path_factory):
    """Folder of the bundle; not to be changed."""
    if keras.backend.backend() != "tensorflow":
        pytest.skip("conversion needs the TensorFlow backend")
    from export.bundles import writing as bundle_writing

    folder = bundles.make_models(tmp_path_factory.mktemp("models"))
    mobile = [str(folder / name) for name in ("dynamic.tflite", "int8.tflite")]
    original = bundle_writing.Original(str(folder / "model.keras"), mobile)
    bundle_writing.write(bundle_writing.Request([original], str(folder / "bundle"), name="tiny", images=6))
    return folder / "bundle"


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
