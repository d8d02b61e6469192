"""Results of tensorflow-model-optimization: `python -m tests.compression.tfmot_oracle RESULTS.npz`.

This runs in a separate process, since importing that library turns on legacy Keras. Keras 3 works in the same
process if it is imported first, so this also tests that our callback accepts the schedules of that library.
"""

import sys

import keras  # noqa: F401  Keras 3, before legacy Keras
import numpy as np
import tensorflow as tf
import tensorflow_model_optimization as tfmot
from tensorflow_model_optimization.python.core.keras.compat import keras as legacy_keras
from tensorflow_model_optimization.python.core.sparsity.keras import pruning_impl

from tests.compression import pruning_cases as cases

pruning = tfmot.sparsity.keras


def schedule_values(schedule):
    """List of (should_prune, sparsity), one for each step."""
    return [[float(value) for value in schedule(step)] for step in range(cases.STEPS)]


def mask(weights, arguments, sparsity):
    """The mask in the shape of the weights."""
    masks = pruning_impl.Pruning(
        training_step_fn=lambda: 0,
        pruning_vars=[],
        pruning_schedule=pruning.ConstantSparsity(sparsity, 0),
        block_size=arguments.get("block_size", (1, 1)),
        block_pooling_type="AVG",
        sparsity_m_by_n=arguments.get("sparsity_m_by_n"),
    )
    return masks._maybe_update_block_mask(tf.constant(weights))[1].numpy().astype(bool)


def training():
    """The weights after training with the wrappers of tensorflow-model-optimization."""
    model = cases.small_model(legacy_keras)
    model.set_weights([cases.arrays()[f"weights_{number}"] for number in range(4)])
    schedule = pruning.PolynomialDecay(begin_step=cases.BEGIN + 1, end_step=cases.END + 1, **cases.DECAY)
    wrapped = pruning.prune_low_magnitude(model, pruning_schedule=schedule)
    cases.train(legacy_keras, wrapped, pruning.UpdatePruningStep())
    return pruning.strip_pruning(wrapped).get_weights()


def main(path):
    arrays = cases.arrays()
    results = {
        **{
            f"constant_{i}": schedule_values(pruning.ConstantSparsity(*a))
            for i, a in enumerate(cases.CONSTANT)
        },
        **{
            f"decaying_{i}": schedule_values(pruning.PolynomialDecay(*a))
            for i, a in enumerate(cases.DECAYING)
        },
        **{f"mask_{i}": mask(arrays[name], *case[1:]) for i, (name, *case) in enumerate(cases.MASKS)},
        **{f"training_{i}": weights for i, weights in enumerate(training())},
        **{f"ours_{i}": weights for i, weights in enumerate(cases.our_training(pruning))},
    }
    np.savez(path, **results)


if __name__ == "__main__":
    main(sys.argv[1])
