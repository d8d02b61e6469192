"""Several machines that train one model: how they find each other, and what the first tells the others.

Each runs the same command; Keras connects them on JAX (`keras.distribution.initialize`). The first one has
the folder of the run. It sends the others the state to go on from, so that they need no folder in common.
"""

import dataclasses
import hashlib
import json
import os
import re

from command_line import guarding
from hsvit_runtime.errors import InputError
from training.recipes.recipe import differences

VARIABLES = {
    name: f"KERAS_DISTRIBUTION_{name.upper()}" for name in ("job_addresses", "num_processes", "process_id")
}
# What a collective operation or the coordinator says when a process has gone.
_LOST = re.compile(r"gloo|nccl|coordination service|heartbeat|unavailable|connection (reset|closed)", re.I)


@dataclasses.dataclass(frozen=True)
class Hosts:
    """The processes of a run, one a machine.

    Attributes:
        addresses: str, `HOST:PORT` of the first process, or of all with commas between; the first listens
            on it.
        count: int, processes.
        index: int, which of them this one is; 0 writes the files of the run.
    """

    addresses: str | None = None
    count: int = 1
    index: int = 0

    @property
    def is_first(self):
        return self.index == 0

    @property
    def name(self):
        return f"process {self.index} of {self.count}"

    def connect(self):
        """Waits for all processes; nothing may have been computed before."""
        if self.count > 1:
            import keras

            keras.distribution.initialize(self.addresses, self.count, self.index)
            guarding.connected()

    def disconnect(self):
        """Ends the connection, in all processes at once; each computes alone from now on."""
        if self.count > 1:
            import jax

            jax.distributed.shutdown()

    def agree(self, what, describe):
        """Raises `InputError` in all processes if what one of them has is not what the first has.

        Args:
            what: str, what it is, for the error.
            describe: function without arguments that gives it as a dict of JSON.
        """
        if self.count == 1:
            return
        mine = json.dumps(describe())
        found = differences(json.loads(self.send(mine.encode())), json.loads(mine))
        self.check_all(
            f"{what} of {self.name} is not that of process 0: "
            + "; ".join(f"{key} is {here!r}, and there {there!r}" for key, there, here in found)
            if found
            else ""
        )

    def first_checks(self, check):
        """Calls `check` in the first process; raises in all the `InputError` that it raises."""
        if self.count == 1:
            check()
            return
        error = ""
        if self.is_first:
            try:
                check()
            except InputError as found:
                error = str(found)
        self.check_all(error)

    def check_all(self, error):
        """Raises `InputError` in all processes if one of them has an error, a text of one line."""
        errors = [text.decode() for text in self.gather(error.encode())]
        if found := next(filter(None, errors), None):
            self.disconnect()  # so that each ends by its own line
            raise InputError(found)

    def send(self, content):
        """The bytes that the first process gives, in all of them."""
        if self.count == 1:
            return content
        import numpy as np
        from jax.experimental.multihost_utils import broadcast_one_to_all

        size = int(broadcast_one_to_all(np.int32(len(content))))
        if not size:
            return b""
        mine = np.frombuffer(content, np.uint8) if self.is_first else np.zeros(size, np.uint8)
        return broadcast_one_to_all(mine).tobytes()

    def gather(self, content):
        """The bytes of all processes, in their order."""
        if self.count == 1:
            return [content]
        import numpy as np
        from jax.experimental.multihost_utils import process_allgather

        sizes = process_allgather(np.int32(len(content)))
        if not sizes.any():
            return [b""] * self.count
        padded = np.zeros(int(sizes.max()), np.uint8)
        padded[: len(content)] = np.frombuffer(content, np.uint8)
        found = process_allgather(padded)
        return [row[:size].tobytes() for row, size in zip(found, sizes.tolist(), strict=True)]


ALONE = Hosts()


def hosts_of(addresses=None, count=None, index=None):
    """The processes that flags, or else the environment variables of Keras name; `ALONE` where none do.

    Args:
        addresses: str, or None for the value of KERAS_DISTRIBUTION_JOB_ADDRESSES.
        count: int, or None for KERAS_DISTRIBUTION_NUM_PROCESSES, or where several addresses are given.
        index: int, or None for KERAS_DISTRIBUTION_PROCESS_ID.

    Raises:
        ValueError: one of them is missing, or out of its range.
    """
    given = {"job_addresses": addresses, "num_processes": count, "process_id": index}
    found = {
        name: os.environ.get(VARIABLES[name]) if value is None else value for name, value in given.items()
    }
    if not any(value is not None for value in found.values()):
        return ALONE
    listed = (found["job_addresses"] or "").split(",")
    if found["num_processes"] is None and len(listed) > 1:
        found["num_processes"] = len(listed)
    for name, value in found.items():
        if value is None:
            raise InputError(f"--{name}, or the environment variable {VARIABLES[name]}, is needed")
    for address in listed:
        if not re.fullmatch(r"\S+:\d+", address):
            raise InputError(f"--job_addresses takes HOST:PORT; received {address!r}")
    try:
        count, index = int(found["num_processes"]), int(found["process_id"])
    except ValueError as error:
        raise InputError(f"--num_processes and --process_id are integers: {error}") from None
    if len(listed) not in (1, count):
        raise InputError(f"--job_addresses names {len(listed)} processes, and --num_processes says {count}")
    if not 0 <= index < count:
        raise InputError(f"--process_id has to be 0 to {count - 1}; received {index}")
    return Hosts(found["job_addresses"], count, index)


def is_loss_of_a_host(error):
    """Whether an exception says that another process cannot be reached any more."""
    return not isinstance(error, InputError) and bool(_LOST.search(str(error)))


def fingerprint(data):
    """What all processes have to find in their folders of images: dict of numbers of images and a digest."""
    parts = {"training": data.train_set, "validation": data.validation_set}
    return {f"{name} images": len(part) for name, part in parts.items()} | {
        f"{name} labels": hashlib.sha256(part.labels.tobytes()).hexdigest()[:12]
        for name, part in parts.items()
    }
