"""Some test samples with what a model makes of them, as a picture."""

import numpy as np

from command_line import plots
from data_sets import sample_images
from data_sets.crops import crop_of
from hsvit_keras.layers.model_description import description_of

_SAMPLES = 8


def draw(model, data, image_shape, path):
    """Draws some samples of the test part as the task shows them; nothing where it has no picture.

    Args:
        model: `keras.Model` that takes pixels of 0 to 255.
        data: `training.fitting.data.Data`.
        image_shape: (height, width, channels).
        path: path of the .png to write.

    Raises:
        OSError: the file cannot be written.
    """
    count = min(_SAMPLES, len(data.test_set))
    resizing = description_of(model).resizing
    images, labels = sample_images(data.test_set, count, image_shape=image_shape, crop=crop_of(resizing))
    outputs = model.predict_on_batch(images)
    outputs = outputs if isinstance(outputs, dict) else {"outputs": np.asarray(outputs, "float32")}
    with plots.style():
        figure = data.task.draw(images.astype("uint8"), labels, outputs, data.class_names)
        if figure is not None:
            plots.save(figure, path)
