"""Classifies images by MediaPipe and reads metadata by its classes; run in the environment of MediaPipe.

    python mediapipe_classify.py images.npy model.tflite ...

Prints a JSON object for each model's name: `categories`, a list of `{index, name, score}` for each image,
`metadata`, the fields of its `ModelMetadata`; or `error`, why MediaPipe does not take it.
"""

import json
import pathlib
import sys

import mediapipe
import numpy as np
from mediapipe.tasks.metadata import metadata_schema_py_generated, schema_py_generated
from mediapipe.tasks.python import BaseOptions, vision


def categories(path, images):
    options = vision.ImageClassifierOptions(base_options=BaseOptions(model_asset_path=path))
    with vision.ImageClassifier.create_from_options(options) as classifier:
        results = [
            classifier.classify(mediapipe.Image(image_format=mediapipe.ImageFormat.SRGB, data=image))
            for image in images
        ]
    return [
        [
            {"index": category.index, "name": category.category_name, "score": category.score}
            for category in result.classifications[0].categories
        ]
        for result in results
    ]


def metadata(path):
    model = schema_py_generated.Model.GetRootAs(pathlib.Path(path).read_bytes())
    entries = [model.Metadata(number) for number in range(model.MetadataLength())]
    (entry,) = (entry for entry in entries if entry.Name() == b"TFLITE_METADATA")
    content = model.Buffers(entry.Buffer()).DataAsNumpy().tobytes()
    assert metadata_schema_py_generated.ModelMetadata.ModelMetadataBufferHasIdentifier(content, 0)
    root = metadata_schema_py_generated.ModelMetadata.GetRootAs(content)
    return plain(metadata_schema_py_generated.ModelMetadataT.InitFromObj(root))


def plain(value):
    """Flatbuffers' objects as dicts without what is left out."""
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, list):
        return [plain(item) for item in value]
    if hasattr(value, "__dict__"):
        return {name: plain(item) for name, item in vars(value).items() if item is not None}
    return value


def report(path, images):
    try:
        return {"categories": categories(path, images), "metadata": metadata(path)}
    except (ValueError, FileNotFoundError) as error:  # what MediaPipe raises for models that it does not take
        return {"error": str(error)}


if __name__ == "__main__":
    images = np.load(sys.argv[1])
    print(json.dumps({pathlib.Path(path).stem: report(path, images) for path in sys.argv[2:]}))
