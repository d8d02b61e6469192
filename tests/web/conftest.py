"""Sites of real bundles: a tiny classifier of digits, a detector, a model of clips, and their artifacts."""

import keras
import pytest

from export.web_site import writing
from tests.export import bundles
from tests.web import browsers


@pytest.fixture(scope="package")
def bundle(tmp_path_factory):
    """Folder of the bundle; not to be changed."""
    folder = tmp_path_factory.mktemp("models")
    return make_bundle(folder, bundles.make_models, ["dynamic", "int8"], name="tiny", images=6)


def make_bundle(folder, make_models, artifacts, **changes):
    """Writes models and their bundle; gives the bundle's folder."""
    if keras.backend.backend() != "tensorflow":
        pytest.skip("conversion needs the TensorFlow backend")
    from export.bundles import writing as bundle_writing

    make_models(folder)
    original = bundle_writing.Original(
        str(folder / "model.keras"), [str(folder / f"{name}.tflite") for name in artifacts]
    )
    bundle_writing.write(bundle_writing.Request([original], str(folder / "bundle"), **changes))
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
