"""Ray's processes, from start to stop: nodes that are restarted when they die."""

import contextlib
import os
import pathlib
import signal
import socket

from hsvit_runtime.errors import FileError, InputError

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")

import ray

from export.serving.node import Node, spread
from hsvit_runtime.native_output import quietly

_PACKAGES = ("export", "hsvit_runtime")  # what nodes import, sent to other machines
_OBJECTS = 100 * 2**20  # bytes of shared memory; images and tokens are small
_START_SECONDS = 120
_LONGEST_REASON = 300  # characters


@contextlib.contextmanager
def running(manifest, *, num_nodes, address=None):
    """Runs nodes while the context is open; afterwards none of its processes is left.

    Without an address Ray itself is started and stopped. With one, the nodes are spread over a cluster that
    is running already, and that goes on running afterwards.

    Args:
        manifest: `manifest.Manifest`.
        num_nodes: int, from 1 to the number of shards.
        address: str, of a cluster of Ray; None for this machine alone.

    Yields:
        (handles, groups): the nodes' handles, and a tuple with the groups of each node.

    Raises:
        InputError: there are fewer shards than nodes, or the cluster has no room for them.
        FileError: there is no cluster at the address.
    """
    shards = spread(len(manifest.shards), num_nodes)
    if address is not None:
        _check_reachable(address)
    # Ray reports on its processes on standard output and replaces signal handlers; both stay ours.
    with contextlib.redirect_stdout(None), contextlib.ExitStack() as stack:
        with quietly(), _restored_signals():
            stack.callback(_stop)
            with _start_failures(address):
                with _delayed_signals():
                    _start_ray(num_nodes, address)
                handles = _start_nodes(manifest, shards)
        yield handles, [sum((manifest.groups[i] for i in held), ()) for held in shards]


def _check_reachable(address):
    """Raises `FileError` if nothing listens there; Ray would try for minutes."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal():
        try:
            socket.create_connection((host, int(port)), timeout=5).close()
        except OSError as error:
            raise FileError(f"there is no cluster of Ray at {address}: {error.strerror or error}") from error


@contextlib.contextmanager
def _restored_signals():
    """Restores the signal handlers that Ray replaces by its own."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def _start_failures(address):
    """Says in one line why Ray does not start: it raises many classes of errors, with long reports."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        where = "on this machine" if address is None else f"at {address}"
        reason = " ".join(str(error).split())[:_LONGEST_REASON]
        raise InputError(f"Ray does not start {where}: {reason}") from error


@contextlib.contextmanager
def _delayed_signals():
    """Delays signals to the end: a Ray that is interrupted as it starts leaves processes behind."""
    received = []
    with _restored_signals():
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda number, _: received.append(number))
        yield
    if received:
        signal.raise_signal(received[0])


def _start_ray(num_nodes, address):
    common = {"log_to_driver": False, "logging_level": "FATAL"}
    if address is None:
        ray.init(
            address="local",  # not to join what else runs on this machine
            num_cpus=num_nodes,  # what Ray counts; the actors share the cores that there are
            include_dashboard=False,
            object_store_memory=_OBJECTS,
            **common,
        )
        return
    root = pathlib.Path(__file__).parents[2]
    modules = [str(root / name) for name in _PACKAGES]
    ray.init(address=address, runtime_env={"py_modules": modules}, **common)
    free = int(ray.available_resources().get("CPU", 0))
    if free < num_nodes:
        raise InputError(f"the cluster at {address} has {free} free CPUs, too few for {num_nodes} nodes")


def _start_nodes(manifest, shards):
    actor = ray.remote(Node).options(
        num_cpus=1, max_restarts=-1, max_task_retries=0, scheduling_strategy="SPREAD"
    )
    handles = [actor.remote([manifest.shards[i] for i in held], manifest.input_range) for held in shards]
    ray.get([handle.location.remote() for handle in handles], timeout=_START_SECONDS)
    return handles


def _stop():
    """Disconnects, which ends the nodes, and a Ray that was started for them."""
    with quietly():
        ray.shutdown()
