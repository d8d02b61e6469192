"""How much memory a step of training needs, as XLA plans it: the same number on every run.

It is what a process of JAX's says of the compiled step, for whatever device that has: weights, states of the
optimizer, the batch, and the largest amount of intermediate values at a time. Nothing is computed.
"""

import json
import os
import subprocess
import sys

from hsvit_runtime.errors import InputError


def bytes_of_training(model, arguments, image_shape, batch_size, dtype="float32"):
    """The memory that a step of training needs.

    Args:
        model: str, name of a registered model.
        arguments: dict of its arguments.
        image_shape: (height, width, channels) in pixels.
        batch_size: int.
        dtype: dtype policy of the model.

    Returns:
        int, bytes.

    Raises:
        ValueError: JAX is not installed, or the model cannot be built.
    """
    job = {"model": model, "arguments": arguments, "image_shape": list(image_shape)}
    job |= {"batch_size": batch_size, "dtype": dtype}
    done = subprocess.run(
        [sys.executable, "-m", "training.speed.memory_worker", f"--job={json.dumps(job)}"],
        env={**os.environ, "KERAS_BACKEND": "jax"},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        *_, reason = done.stderr.strip().splitlines() or ["it wrote no error"]
        raise InputError(f"the memory of {model} cannot be measured: {reason.removeprefix('error: ')}")
    return json.loads(done.stdout.splitlines()[-1])["bytes"]
