"""What tensorflow-model-optimization says: `python -m tests.compression.tfmot_oracle ANSWERS.npz`.

A process of its own, since importing that library turns on legacy Keras. Keras 3, imported first, works
beside it, and so it is also seen here that our callback takes the schedules of that library.
"""

import sys

import keras  # noqa: F401  Keras 3, before the other
import numpy as np
import tensorflow as tf
import tensorflow_model_optimization as tfmot
from tensorflow_model_optimization.python.core.keras.compat import keras as legacy_keras
from tensorflow_model_optimization.python.core.sparsity.keras import pruning_impl

from tests.compression import pruning_cases as cases

theirs = tfmot.sparsity.keras


def schedule_values(schedule):
    """(steps, 2): whether to prune, and the sparsity."""
    return [[float(value) for value in schedule(step)] for step in range(cases.STEPS)]


def mask(weights, names, sparsity):
    """In the shape of the weights."""
    pruning = pruning_impl.Pruning(
        training_step_fn=lambda: 0,
        pruning_vars=[],
        pruning_schedule=theirs.ConstantSparsity(sparsity, 0),
        block_size=names.get("block_size", (1, 1)),
        block_pooling_type="AVG",
        sparsity_m_by_n=names.get("sparsity_m_by_n"),
    )
    return pruning._maybe_update_block_mask(tf.constant(weights))[1].numpy().astype(bool)


def training(arrays):
    """The weights after training with their wrappers."""
    model = cases.small_model(legacy_keras)
    model.set_weights([arrays[f"weights_{number}"] for number in range(4)])
    schedule = theirs.PolynomialDecay(begin_step=cases.BEGIN + 1, end_step=cases.END + 1, **cases.DECAY)
    wrapped = theirs.prune_low_magnitude(model, pruning_schedule=schedule)
    cases.train(legacy_keras, wrapped, arrays, theirs.UpdatePruningStep())
    return theirs.strip_pruning(wrapped).get_weights()


def main(path):
    arrays = cases.questions()
    answers = {
        **{
            f"constant_{i}": schedule_values(theirs.ConstantSparsity(*a))
            for i, a in enumerate(cases.CONSTANT)
        },
        **{
            f"decaying_{i}": schedule_values(theirs.PolynomialDecay(*a)) for i, a in enumerate(cases.DECAYING)
        },
        **{f"mask_{i}": mask(arrays[name], *case[1:]) for i, (name, *case) in enumerate(cases.MASKS)},
        **{f"training_{i}": weights for i, weights in enumerate(training(arrays))},
        **{f"ours_{i}": weights for i, weights in enumerate(cases.our_training(arrays, theirs))},
    }
    np.savez(path, **answers)


if __name__ == "__main__":
    main(sys.argv[1])
