"""What `tfmot_oracle.py` does with tensorflow-model-optimization, and the tests do with our own."""

import keras
import numpy as np

import hsvit_keras

# Arguments of the schedules, the same for both.
CONSTANT = [(0.0, 0), (0.5, 0), (0.9, 7, 30, 4), (0.73, 3, -1, 10), (0.25, 5, 5, 1)]
DECAYING = [
    (0.0, 0.8, 0, 60, 3, 10),
    (0.2, 0.7, 5, 47, 2, 6),
    (0.5, 0.9, 3, 40, 1, 7),
    (0.6, 0.1, 0, 50, 3, 5),
]
STEPS = 120

# Our pattern, their arguments, and the sparsity.
WEIGHTS = [("weight", {}, sparsity) for sparsity in (0.0, 0.3, 0.5, 0.77, 0.9, 0.999)]
OF_EACH = [
    ("2:4", {"sparsity_m_by_n": (2, 4)}, 0.5),
    ("1:4", {"sparsity_m_by_n": (3, 4)}, 0.75),
    ("3:8", {"sparsity_m_by_n": (5, 8)}, 0.625),
]
BLOCKS = [
    ((rows, columns), {"block_size": (rows, columns)}, sparsity)
    for rows, columns in ((1, 4), (4, 1), (2, 2), (5, 6))
    for sparsity in (0.3, 0.5, 0.8)
]
# They take blocks in matrices alone. At most one row or column of a block at the edge is missing here: of
# more, they pool some in front of the first weight, and mask them behind the last.
MASKS = [
    *(("convolution", *case) for case in WEIGHTS + OF_EACH),
    *(("dense", *case) for case in WEIGHTS + OF_EACH + BLOCKS),
]

# They count the first batch as step 1, and make masks before it; for us, that is step 0.
DECAY = {"initial_sparsity": 0.2, "final_sparsity": 0.7, "power": 3, "frequency": 2}
BEGIN, END = 1, 9


def questions():
    """A dict of arrays: kernels to mask, images and labels to train on, and the weights at the start."""
    rng = np.random.default_rng(0)
    shapes = {
        "convolution": (3, 3, 10, 7),
        "dense": (19, 23),
        "images": (30, 7, 7, 3),
        **{f"weights_{number}": shape for number, shape in enumerate([(3, 3, 3, 6), (6,), (150, 5), (5,)])},
    }
    arrays = {name: rng.normal(size=shape).astype("float32") for name, shape in shapes.items()}
    return {**arrays, "labels": rng.integers(0, 5, len(arrays["images"]))}


def small_model(keras):
    """The same model in Keras 3 and in legacy Keras."""
    layers = keras.layers
    return keras.Sequential(
        [layers.Input((7, 7, 3)), layers.Conv2D(6, 3, activation="relu"), layers.Flatten(), layers.Dense(5)]
    )


def train(keras, model, arrays, callback):
    """Three epochs of five steps."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss)
    settings = {"batch_size": 6, "epochs": 3, "shuffle": False, "verbose": 0}
    model.fit(arrays["images"], arrays["labels"], **settings, callbacks=[callback])


def our_training(arrays, schedules):
    """The weights after training with our callback, and a schedule of the module `schedules`."""
    model = small_model(keras)
    model.set_weights([arrays[f"weights_{number}"] for number in range(4)])
    schedule = schedules.PolynomialDecay(begin_step=BEGIN, end_step=END, **DECAY)
    train(keras, model, arrays, hsvit_keras.prune(model, schedule))
    return model.get_weights()
