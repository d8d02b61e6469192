"""The `.tflite` files that the app's tests read are what the package writes."""

import pytest

from hsvit_runtime import metadata
from hsvit_runtime.description import Description
from tests.android import metadata_files

pytestmark = pytest.mark.once


def test_the_files_are_up_to_date():
    for name, content in metadata_files.contents().items():
        assert (metadata_files.FOLDER / name).read_bytes() == content, (
            "python -m tests.android.metadata_files"
        )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("signed", Description(input_range=(-1.0, 1.0), class_names=metadata_files.CLASSES)),
        ("other", Description(input_range=(-0.5, 2.0))),
        ("colours", Description()),
        ("damaged", Description()),
        ("none", Description()),
    ],
)
def test_python_reads_of_them_what_the_app_reads(name, expected):
    found = metadata.read_description(metadata_files.FOLDER / f"metadata_{name}.tflite")
    assert found.class_names == expected.class_names
    assert (found.input_range is None) == (expected.input_range is None)
    assert found.input_range is None or found.input_range == pytest.approx(expected.input_range, abs=1e-6)
