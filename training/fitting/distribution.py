"""Training on several devices, on JAX: they share the images of a batch, or the groups of an HSViT.

Both compute the same as one device; they differ in what each device has to hold and to send.
"""

import contextlib
import math
import random
import re

import keras

from hsvit_keras.backends import require_backend
from hsvit_keras.compression.graph import Graph
from hsvit_keras.compression.slimming.parts import find_places
from hsvit_runtime.errors import InputError

KINDS = ("data", "groups")
_COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_BITS = re.compile(r"(?:f|bf|s|u)(\d+)|pred")


def take_devices(num_devices):
    """Checks that there are enough devices; a CPU is divided into several, if nothing was computed yet.

    Args:
        num_devices: int.

    Returns:
        list of their names.

    Raises:
        ValueError: the backend is not JAX, or there are not so many devices.
    """
    require_backend("jax")
    import jax

    with contextlib.suppress(RuntimeError):  # once something was computed, devices are fixed
        jax.config.update("jax_num_cpu_devices", num_devices)
    devices = keras.distribution.list_devices()
    if not 1 <= num_devices <= len(devices):
        raise InputError(f"num_devices has to be 1 to {len(devices)} here; received {num_devices}")
    return devices[:num_devices]


def distribute(kind, devices, batch_size, build):
    """Places all that Keras makes from now on onto several devices.

    Args:
        kind: str, what the devices share: `"data"`, the images of each batch, every device holding the
            whole model; or `"groups"`, attention groups with their kernels, every device seeing all images.
        devices: list of names.
        batch_size: int, images in a step of training.
        build: function without arguments that gives the model which will be trained; it is called once to
            find its groups. The model that is built next has the same initial weights.

    Returns:
        list of callbacks that `fit` needs then.

    Raises:
        ValueError: there is no such kind, or so many devices cannot share the batch or the groups.
    """
    if kind not in KINDS:
        raise InputError(f"distribution has to be one of {', '.join(KINDS)}; received {kind!r}")
    if kind == "data":
        if batch_size % len(devices):
            raise InputError(
                f"distribution='data' needs a batch size that the {len(devices)} devices can share evenly; "
                f"received batch_size={batch_size}"
            )
        distribution = _DataParallel(devices=devices)
    else:
        mesh = keras.distribution.DeviceMesh((1, len(devices)), ["data", "groups"], devices)
        chance = random.getstate()
        distribution = keras.distribution.ModelParallel(layout_map=_layouts(build(), mesh))
        random.setstate(chance)
    keras.distribution.set_distribution(distribution)
    return [_TestWhole(distribution)] if kind == "data" else []


class _DataParallel(keras.distribution.DataParallel):
    """Shares the images to train on; while it is `testing`, every device gets all images."""

    testing = False

    def get_data_layout(self, data_shape):
        if self.testing:
            return keras.distribution.TensorLayout([None] * len(data_shape), self.device_mesh)
        return super().get_data_layout(data_shape)


class _TestWhole(keras.callbacks.Callback):
    """Lets every device evaluate all images, since the last batch can seldom be shared evenly."""

    def __init__(self, distribution):
        super().__init__()
        self._distribution = distribution

    def on_test_begin(self, logs=None):
        self._distribution.testing = True

    def on_test_end(self, logs=None):
        self._distribution.testing = False


def _layouts(model, mesh):
    """The weights of groups are split along the groups' axis; all others are repeated on each device."""
    place = next(iter(find_places(Graph(model))["groups"].values()), None)
    num_devices = mesh.devices.size
    if place is None or place.count % num_devices:
        groups = place.count if place else "no"
        raise InputError(
            f"distribution='groups' needs attention groups that num_devices={num_devices} divides; "
            f"{model.name!r} has {groups} groups"
        )
    layouts = keras.distribution.LayoutMap(mesh)
    for cut in place.cuts:
        for index, numbered in cut.weights.items():
            weight = cut.layer.weights[index]
            axes = ["groups" if axis == numbered.axis else None for axis in range(len(weight.shape))]
            layouts[f"^{re.escape(weight.path)}$"] = keras.distribution.TensorLayout(axes, mesh)
    return layouts


def communication(model, batch):
    """What the devices send each other in one step of training, as compiled.

    Args:
        model: compiled `keras.Model` on JAX, whose optimizer is built.
        batch: tuple (images, labels) of arrays.

    Returns:
        dict from a kind of collective operation to the bytes of its results on one device, and under
        `sent_by_each_device` the bytes that each device sends if it does them around a ring.
    """
    import jax

    model.test_on_batch(*batch)  # makes the variables of the metrics
    model.reset_metrics()
    variables = (
        model.trainable_variables,
        model.non_trainable_variables,
        model.optimizer.variables,
        model.metrics_variables,
    )
    state = tuple([variable.value for variable in group] for group in variables)
    shardings = jax.tree.map(lambda value: value.sharding, state)
    distribution = keras.distribution.distribution()
    data = [
        jax.device_put(array, distribution.get_data_layout(array.shape).backend_layout) for array in batch
    ]
    step = jax.jit(model.train_step, out_shardings=(None, shardings))
    program = step.lower(state, tuple(data)).compile().as_text()
    return _collectives(program, distribution.device_mesh.devices.size)


def _collectives(program, num_devices):
    """Bytes of the collective operations in the text of a compiled program."""
    found = dict.fromkeys(_COLLECTIVES, 0)
    program = re.sub(r"/\*.*?\*/", "", program)  # comments number the elements of tuples
    for shapes, kind in re.findall(rf"= (\(?[^=]*?\)?) ({'|'.join(_COLLECTIVES)})(?:-start)?\(", program):
        found[kind] += sum(_bytes(*shape) for shape in re.findall(r"(\w+)\[([\d,]*)\]", shapes))
    others = (num_devices - 1) / num_devices
    rounds = {
        "all-reduce": 2 * others,
        "all-gather": others,
        "reduce-scatter": num_devices - 1,
        "all-to-all": others,
        "collective-permute": 1,
    }
    sent = sum(rounds[kind] * size for kind, size in found.items())
    return {**{kind: size for kind, size in found.items() if size}, "sent_by_each_device": round(sent)}


def _bytes(dtype, sizes):
    bits = _BITS.fullmatch(dtype)
    return math.prod(map(int, filter(None, sizes.split(",")))) * max(1, int(bits[1] or 8) // 8)
