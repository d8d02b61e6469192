"""The best detections of a detector's boxes and logits, inside of the graph."""

import keras
import numpy as np
from keras import ops

from hsvit_runtime.errors import InputError

# From center x, center y, width, height to top, left, bottom, right, in the order of TFLite's detectors.
_TO_CORNERS = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, -0.5, 0, 0.5], [-0.5, 0, 0.5, 0]], "float32")


@keras.saving.register_keras_serializable("hsvit_keras")
class DetectionOutput(keras.layers.Layer):
    """The pairs of a query and a class with the highest scores, the best first.

    Only the search for the highest scores is of an operation that XNNPACK lacks: what is read by an index is
    read as a product.

    Args:
        max_detections: int, how many.

    Call arguments:
        boxes: Tensor of shape `(batch, queries, 4)`, center x, center y, width, height.
        logits: Tensor of shape `(batch, queries, classes)`, of a sigmoid each.

    Returns:
        dict of float32 Tensors as TFLite's detectors give them: `location` `(batch, detections, 4)`, top,
        left, bottom and right; `category` `(batch, detections)`, class indices; `score`
        `(batch, detections)`; `number of detections` `(batch,)`, which is always `max_detections`.

    Raises:
        ValueError: there are not so many pairs.

    References:
        - [Deformable DETR](https://arxiv.org/abs/2010.04159), whose program gives the 100 best
    """

    def __init__(self, max_detections, **kwargs):
        super().__init__(**{"dtype": "float32", **kwargs})
        self.max_detections = max_detections

    def build(self, boxes_shape, logits_shape):
        pairs = logits_shape[1] * logits_shape[2]
        if not 1 <= self.max_detections <= pairs:
            raise InputError(
                f"a detector of {logits_shape[1]} queries and {logits_shape[2]} classes gives 1 to {pairs} "
                f"detections; received {self.max_detections}"
            )
        self.built = True

    def call(self, boxes, logits):
        _, queries, classes = logits.shape
        best, places = ops.top_k(ops.reshape(logits, (-1, queries * classes)), self.max_detections)
        places = ops.cast(places, "float32")
        query = ops.floor((places + 0.5) / classes)
        is_query = ops.relu(1 - ops.abs(query[:, :, None] - np.arange(queries, dtype="float32")))
        score = ops.sigmoid(best)
        return {
            "location": ops.matmul(is_query, ops.matmul(boxes, _TO_CORNERS)),
            "category": places - query * classes,
            "score": score,
            "number of detections": ops.sum(ops.ceil(score), axis=-1),
        }

    def compute_output_spec(self, boxes, logits):
        shape = (boxes.shape[0], self.max_detections)
        shapes = {
            "location": (*shape, 4),
            "category": shape,
            "score": shape,
            "number of detections": shape[:1],
        }
        return {name: keras.KerasTensor(shape, "float32") for name, shape in shapes.items()}

    def get_config(self):
        return {**super().get_config(), "max_detections": self.max_detections}


def with_detections(model, max_detections):
    """A detector that gives its best detections in place of all boxes and logits.

    Args:
        model: `keras.Model` with a dict of outputs `boxes` and `logits`.
        max_detections: int.

    Returns:
        A `keras.Model` over the same layers, with the outputs of `DetectionOutput`.

    Raises:
        InputError: `model` is no detector, or gives fewer.
    """
    outputs = model.output
    if not isinstance(outputs, dict) or set(outputs) != {"boxes", "logits"}:
        raise InputError(f"detections are those of a detector's boxes and logits; {model.name!r} has none")
    detections = DetectionOutput(max_detections, name="detections")(outputs["boxes"], outputs["logits"])
    return keras.Model(model.input, detections, name=model.name)
