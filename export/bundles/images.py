"""The images of a bundle, and those that its models' metrics are taken from."""

import numpy as np

from command_line import model_data
from data_sets import load_dataset, sample_images
from data_sets.crops import crop_of
from hsvit_keras.artifacts.keras_model import output_names
from hsvit_keras.artifacts.model_outputs import activation_of
from hsvit_keras.layers.model_description import description_of
from hsvit_keras.tasks import Classification, task_of
from hsvit_runtime.errors import InputError
from hsvit_runtime.pixels import in_range

_METRIC_SAMPLES = 1000


class Images:
    """The images that models are run on: first those of the bundle, then more for the metrics.

    Attributes:
        pixels: float32 array (N, height, width, channels), or of clips (N, frames, height, width, channels),
            of 0 to 255.
        count: int, how many of them go into the bundle.
        labels: array (N, ...), None where the model has other classes than the data set.
        class_names: tuple of str, empty where nobody says.
        task: the model's `Task`.
        data_set: str.
    """

    def __init__(self, request, model, loss):
        model_data.check_takes_images(model)
        description = description_of(model)
        shapes = {
            name: tuple(tensor.shape) for name, tensor in zip(output_names(model), model.outputs, strict=True)
        }
        self.task = task_of(description, list(shapes.values()), activation_of(model), loss)
        self.data_set = model_data.data_set_of(description, request.data)
        dataset = load_dataset(self.data_set, "test", request.data_dir)
        if request.images > len(dataset):
            raise InputError(
                f"images={request.images} are more than {self.data_set} has, which is {len(dataset)}"
            )
        self._given_range = request.input_range
        self.count = request.images
        count = min(max(request.images, _METRIC_SAMPLES), len(dataset))
        shape = model.inputs[0].shape[1:]
        self.pixels, labels = sample_images(
            dataset, count, image_shape=shape, crop=crop_of(description.resizing)
        )
        rule = self.task.detection_rule(shapes)
        classes = next(iter(shapes.values())) if rule is None else shapes[rule["scores"]]
        fit = dataset.labels_fit(description.class_names, classes[-1])
        self.labels = labels if fit else None
        self.class_names = description.class_names or (dataset.class_names if fit else ())

    def range_for(self, description):
        """The values of black and white in the input of a model: what it says, else what the user gave."""
        given = self._given_range if description.input_range is None else None
        return model_data.input_range_of(description, given)

    def inputs_for(self, description):
        """All images as a Keras model takes them."""
        return in_range(self.pixels, self.range_for(description))

    def range_for_file(self, path, model):
        """The values of black and white in the input of the `TFLiteModel` of a file."""
        try:
            return model_data.input_range_of_file(model, self._given_range)
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    def save(self, folder):
        """Writes the bundle's images as PNG; returns what `bundle.json` says of them.

        The frames of a clip stand below each other in one high image, which has the clip's bytes in order.
        """
        from PIL import Image

        (folder / "images").mkdir()
        has_classes = isinstance(self.task, Classification) and self.labels is not None
        entries = []
        for number, image in enumerate(self.pixels[: self.count]):
            pixels = np.rint(image).astype("uint8").reshape(-1, *image.shape[-2:])
            file = f"images/{number:03}.png"
            Image.fromarray(pixels[..., 0] if pixels.shape[-1] == 1 else pixels).save(folder / file)
            entries.append({"file": file, "label": int(self.labels[number]) if has_classes else None})
        return entries
