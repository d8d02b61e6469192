"""The counts of a model."""

import contextlib
import math

import keras
from keras import layers, ops

# The classes behind `keras.ops` have no public names.
from keras.src.ops.image import ExtractPatches, Resize

from hsvit_keras.backends import require_backend
from hsvit_keras.compression.counting.programs import multiply_adds
from hsvit_keras.compression.model_inputs import input_name
from hsvit_keras.compression.narrowing import compute_first_tokens_alone
from hsvit_keras.compression.probing import run_graph
from hsvit_runtime.errors import InputError

# They copy or interpolate pixels, which some backends do by products with ones, zeros and shares.
_SAMPLING = (
    layers.CenterCrop, layers.RandomCrop, layers.Resizing, layers.UpSampling2D, ExtractPatches, Resize,
)  # fmt: skip


def count_multiply_adds(model):
    """Counts the multiply-adds of convolutions and matrix products for one image, as in a mobile artifact.

    Artifacts compute only the tokens that are read, so in the last block only the class token may count; and
    products of weights alone are computed once, so they do not count. Recurrent layers count all steps.

    Args:
        model: `keras.Model` as a Functional graph, or `keras.Sequential`. It is not modified.

    Returns:
        int.

    Raises:
        InputError: `model` is neither Functional nor Sequential; has an input of no fixed size; or computes
            something whose multiply-adds cannot be known, such as a loop that ends by what it computes.
    """
    require_backend("tensorflow", "jax")
    for tensor in model.inputs if hasattr(model, "inputs") else ():
        if None in tensor.shape[1:]:
            raise InputError(
                f"multiply-adds depend on the size of input {input_name(tensor)!r}, which is free in "
                f"{tensor.shape[1:]}: make the model with a fixed input shape"
            )
    model = compute_first_tokens_alone(model)
    with _plain_attention(), _plain_recurrence(model):
        return multiply_adds(_trace(model)) // (model.inputs[0].shape[0] or 1)


def count_parameters(model):
    """The number of trainable parameters, without the statistics of batch normalization, as in papers."""
    return sum(math.prod(variable.shape) for variable in model.trainable_variables)


def _trace(model):
    """The `Program` that the backend computes for one image, or for one batch if its size is fixed."""
    if keras.backend.backend() == "jax":
        from hsvit_keras.compression.counting.jax_programs import traced
    else:
        from hsvit_keras.compression.counting.tensorflow_programs import traced

    def compute(*tensors):
        inputs = keras.tree.pack_sequence_as(model.input, tensors)
        with keras.StatelessScope():  # statistics and seeds stay as they are
            return keras.tree.flatten(run_graph(model, inputs, _without_sampling))

    return traced(compute, [((x.shape[0] or 1, *x.shape[1:]), x.dtype) for x in model.inputs])


def _without_sampling(operation, *args, **kwargs):
    """Calls an operation, or gives a stand-in for its output that depends on the same values."""
    if not isinstance(operation, _SAMPLING):
        return operation(*args, **kwargs)
    first, *others = keras.tree.flatten(args)
    symbolic = keras.tree.map_structure(lambda x: keras.KerasTensor(x.shape, x.dtype), args)
    output = operation.compute_output_spec(*symbolic, **kwargs)
    return ops.broadcast_to(sum(map(ops.max, others), ops.max(first)), output.shape)


@contextlib.contextmanager
def _plain_attention():
    """Computes attention by products of matrices, not by a kernel of the device."""
    enabled = keras.config.is_flash_attention_enabled()
    keras.config.disable_flash_attention()
    try:
        yield
    finally:
        if enabled is not False:
            keras.config.enable_flash_attention()


@contextlib.contextmanager
def _plain_recurrence(model):
    """Computes all recurrent layers as loops, whatever device they run on."""
    settings = {"unroll": False, "use_cudnn": False}
    recurrent = [layer for layer in model._flatten_layers() if isinstance(layer, layers.RNN)]
    before = [{name: getattr(layer, name, False) for name in settings} for layer in recurrent]
    try:
        for layer in recurrent:
            vars(layer).update(settings)
        yield
    finally:
        for layer, own in zip(recurrent, before, strict=True):
            vars(layer).update(own)
