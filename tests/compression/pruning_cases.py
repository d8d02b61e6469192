"""Cases that `tfmot_oracle.py` computes by tensorflow-model-optimization and the tests by our own code."""

import functools

import keras
import numpy as np

import hsvit_keras

# Arguments of the schedules, the same for both libraries.
CONSTANT = [(0.0, 0), (0.5, 0), (0.9, 7, 30, 4), (0.73, 3, -1, 10), (0.25, 5, 5, 1)]
DECAYING = [
    (0.0, 0.8, 0, 60, 3, 10),
    (0.2, 0.7, 5, 47, 2, 6),
    (0.5, 0.9, 3, 40, 1, 7),
    (0.6, 0.1, 0, 50, 3, 5),
]
STEPS = 120

# (argument `pattern` of `prune`, arguments of tensorflow-model-optimization, sparsity).
WEIGHTS = [("weight", {}, sparsity) for sparsity in (0.0, 0.3, 0.5, 0.77, 0.9, 0.999)]
M_OF_N = [
    ("2:4", {"sparsity_m_by_n": (2, 4)}, 0.5),
    ("1:4", {"sparsity_m_by_n": (3, 4)}, 0.75),
    ("3:8", {"sparsity_m_by_n": (5, 8)}, 0.625),
]
BLOCKS = [
    ((rows, columns), {"block_size": (rows, columns)}, sparsity)
    for rows, columns in ((1, 4), (4, 1), (2, 2), (5, 6))
    for sparsity in (0.3, 0.5, 0.8)
]
# tensorflow-model-optimization supports blocks only in matrices. If blocks at an edge lack more than one row or
# column, it pads in front when pooling but at the end when masking, so that its scores and masks do not match;
# the sizes here avoid that.
MASKS = [
    *(("convolution", *case) for case in WEIGHTS + M_OF_N),
    *(("dense", *case) for case in WEIGHTS + M_OF_N + BLOCKS),
]

# tensorflow-model-optimization counts the first batch as step 1 and computes masks before it; our step is 0.
DECAY = {"initial_sparsity": 0.2, "final_sparsity": 0.7, "power": 3, "frequency": 2}
BEGIN, END = 1, 9


@functools.cache
def arrays():
    """A dict of arrays: kernels to mask, images and labels to train on, and initial weights."""
    rng = np.random.default_rng(0)
    shapes = {
        "convolution": (3, 3, 10, 7),
        "dense": (19, 23),
        "images": (30, 7, 7, 3),
        **{f"weights_{number}": shape for number, shape in enumerate([(3, 3, 3, 6), (6,), (150, 5), (5,)])},
    }
    values = {name: rng.normal(size=shape).astype("float32") for name, shape in shapes.items()}
    return {**values, "labels": rng.integers(0, 5, len(values["images"]))}


def small_model(keras):
    """The same model in Keras 3 and in legacy Keras."""
    layers = keras.layers
    return keras.Sequential(
        [layers.Input((7, 7, 3)), layers.Conv2D(6, 3, activation="relu"), layers.Flatten(), layers.Dense(5)]
    )


def train(keras, model, callback):
    """Three epochs of five steps; eagerly, since tracing takes longer than fifteen steps."""
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(keras.optimizers.SGD(0.05, momentum=0.9), loss, run_eagerly=True)
    settings = {"batch_size": 6, "epochs": 3, "shuffle": False, "verbose": 0}
    model.fit(arrays()["images"], arrays()["labels"], **settings, callbacks=[callback])


def our_training(schedules):
    """The weights after training with our callback and a schedule of the module `schedules`."""
    model = small_model(keras)
    model.set_weights([arrays()[f"weights_{number}"] for number in range(4)])
    schedule = schedules.PolynomialDecay(begin_step=BEGIN, end_step=END, **DECAY)
    train(keras, model, hsvit_keras.prune(model, schedule))
    return model.get_weights()
