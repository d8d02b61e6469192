"""Training on several devices, on JAX: they share the images of a batch, or the groups of an HSViT.

Both compute the same as one device; they differ in what each device has to hold and to send. The devices may
belong to several machines, see `training.fitting.hosts`.
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
from training.fitting.hosts import ALONE

KINDS = ("data", "groups")
_COLLECTIVES = ("all-reduce", "all-gather", "reduce-scatter", "all-to-all", "collective-permute")
_BITS = re.compile(r"(?:f|bf|s|u)(\d+)|pred")


def take_devices(num_devices, hosts=ALONE):
    """Connects the machines, and checks that there are enough devices.

    A CPU is divided into several, if nothing was computed yet.

    Args:
        num_devices: int, devices of each machine.
        hosts: `Hosts`.

    Returns:
        list of the names of those of all machines, one machine after the other.

    Raises:
        ValueError: the backend is not JAX, or there are not so many devices.
    """
    require_backend("jax")
    import jax

    with contextlib.suppress(RuntimeError):  # once something was computed, devices are fixed
        jax.config.update("jax_num_cpu_devices", num_devices)
    hosts.connect()
    here = jax.local_device_count()
    hosts.check_all(
        "" if 1 <= num_devices <= here else f"num_devices has to be 1 to {here} here; received {num_devices}"
    )
    names = keras.distribution.list_devices()
    of_hosts = [device.process_index for device in jax.devices()]
    return [
        name
        for host in range(hosts.count)
        for name in [name for name, owner in zip(names, of_hosts, strict=True) if owner == host][:num_devices]
    ]


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
        distribution = _DataParallel(devices=devices, auto_shard_dataset=False)
    else:
        mesh = keras.distribution.DeviceMesh((1, len(devices)), ["data", "groups"], devices)
        chance = random.getstate()
        distribution = keras.distribution.ModelParallel(
            layout_map=_layouts(build(), mesh), auto_shard_dataset=False
        )
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


@contextlib.contextmanager
def undistributed():
    """What is made within this context is on one device of this machine."""
    given = keras.distribution.distribution()
    keras.distribution.set_distribution(None)
    try:
        yield
    finally:
        keras.distribution.set_distribution(given)


@contextlib.contextmanager
def whole(variables):
    """Within this context each machine holds all of each variable, so that it can be read and saved.

    Args:
        variables: list of `keras.Variable`; those that are cut over several machines are changed.
    """
    cut = [variable for variable in variables if _is_elsewhere(variable)]
    layouts = [variable._layout for variable in cut]
    repeated = [
        keras.distribution.TensorLayout([None] * len(variable.shape), layout.device_mesh)
        for variable, layout in zip(cut, layouts, strict=True)
    ]
    _lay_out(cut, repeated)
    try:
        yield
    finally:
        _lay_out(cut, layouts)


def _is_elsewhere(variable):
    """Whether this machine holds a part of the variable only."""
    value = variable.value
    return not getattr(value, "is_fully_addressable", True) and not value.is_fully_replicated


def _lay_out(variables, layouts):
    for variable, layout in zip(variables, layouts, strict=True):
        variable._layout = layout  # Keras has no other way to move a variable
        variable.assign(variable.value)


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


def distributed_batch(data, size):
    """What one machine has of a batch to train on, in form alone: one image again and again."""
    return tuple(array[:1].repeat(size, axis=0) for array in next(iter(data.validation())))


def communication(model, batch):
    """What the devices send each other in one step of training, as compiled.

    Args:
        model: compiled `keras.Model` on JAX, whose optimizer is built.
        batch: tuple (images, labels) of arrays, what this machine has of a batch.

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
        jax.make_array_from_process_local_data(
            distribution.get_data_layout(array.shape).backend_layout, array
        )
        for array in batch
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
