"""The process of `training.speed.memory`: compiles a step of training on JAX and writes what it needs."""

import json

from absl import flags

from command_line import commands

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string(
        "job", None, "JSON of model, arguments, image_shape, batch_size, dtype.", required=True
    )


def main(_):
    from training.speed.random_training import RandomTraining

    job = json.loads(FLAGS.job)
    model = RandomTraining(**{**job, "batch_size": 1}).model
    print(json.dumps({"bytes": _planned(model, job["batch_size"], job["image_shape"])}), flush=True)


def _planned(model, batch_size, image_shape):
    """Bytes that the compiled step needs; what it gives back takes the place of what it gets."""
    import jax
    import numpy as np

    model.optimizer.build(model.trainable_variables)
    variables = model.trainable_variables, model.non_trainable_variables, model.optimizer.variables
    state = [[jax.ShapeDtypeStruct(v.shape, v.dtype) for v in group] for group in variables]
    images = jax.ShapeDtypeStruct((batch_size, *image_shape), np.float32)
    labels = jax.ShapeDtypeStruct((batch_size, model.output_shape[-1]), np.float32)

    def loss_of(trainable, others, images, labels):
        logits, others = model.stateless_call(trainable, others, images, training=True)
        return model.compute_loss(images, labels, logits), others

    def step(state, images, labels):
        trainable, others, optimizer = state
        gradient = jax.value_and_grad(loss_of, has_aux=True)
        (_, others), gradients = gradient(trainable, others, images, labels)
        trainable, optimizer = model.optimizer.stateless_apply(optimizer, gradients, trainable)
        return [trainable, others, optimizer]

    compiled = jax.jit(step, donate_argnums=0).lower(state, images, labels).compile()
    sizes = compiled.memory_analysis()
    outputs = sizes.output_size_in_bytes - sizes.alias_size_in_bytes
    return sizes.argument_size_in_bytes + sizes.temp_size_in_bytes + outputs


if __name__ == "__main__":
    define_flags()
    commands.run(main)
