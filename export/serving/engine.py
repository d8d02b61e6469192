"""Ray's processes, from start to stop: nodes that are restarted when they die, and the service in front."""

import contextlib
import os
import pathlib
import signal
import socket

from hsvit_runtime.errors import FileError, InputError

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
os.environ.setdefault("RAY_SERVE_LOG_TO_STDERR", "0")

import dataclasses

import ray
from ray import serve

from export.serving.node import Node, spread
from export.serving.service import Service
from hsvit_runtime.native_output import quietly

_NAME = "hsvit"
_PACKAGES = ("export", "data_sets", "hsvit_runtime")  # what nodes and service import, sent to other machines
_OBJECTS = 100 * 2**20  # bytes of shared memory; images and tokens are small
_START_SECONDS = 120
_REQUEST_SECONDS = 30  # for a client that sends slowly; then it gets 408
_ONGOING, _QUEUED = 32, 256  # requests; Ray Serve answers further ones with 503


@contextlib.contextmanager
def running(manifest, *, num_nodes, deadline, host, port, address=None):
    """Runs a service while the context is open; afterwards none of its processes is left.

    Without an address Ray itself is started and stopped. With one, the nodes are spread over a cluster that
    is running already, and that goes on running afterwards.

    Args:
        manifest: `manifest.Manifest`.
        num_nodes: int, from 1 to the number of shards.
        deadline: float, seconds to wait for the nodes, for each image.
        host: str, the address to listen on.
        port: int.
        address: str, of a cluster of Ray; None for this machine alone.

    Yields:
        str, the service's URL.

    Raises:
        InputError: there are fewer shards than nodes, or the cluster has no room for them.
        OSError: the port is not free, or there is no cluster at the address.
    """
    shards = spread(len(manifest.shards), num_nodes)
    if address is None:
        _check_free(host, port)
    else:
        _check_reachable(address)
    # Ray reports on its processes on standard output and replaces signal handlers; both stay ours.
    with contextlib.redirect_stdout(None), contextlib.ExitStack() as stack:
        with quietly(), _restored_signals():
            stack.callback(_stop)
            with _delayed_signals():
                _start_ray(num_nodes, address)
            handles = _start_nodes(manifest, shards)
            groups = [sum((manifest.groups[i] for i in held), ()) for held in shards]
            _start_service(manifest, handles, groups, deadline, host, port)
        yield f"http://{host}:{port}"


def _check_free(host, port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise FileError(f"cannot listen on {host}, port {port}: {error.strerror}") from error


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


def _start_service(manifest, handles, groups, deadline, host, port):
    deployment = serve.deployment(Service).options(
        name=_NAME,
        max_ongoing_requests=_ONGOING,
        max_queued_requests=_QUEUED,
        graceful_shutdown_timeout_s=2,
        graceful_shutdown_wait_loop_s=0.1,
        # On the head machine, as the proxy that listens; without a core of its own, so that it always starts.
        ray_actor_options={"num_cpus": 0, "resources": {"node:__internal_head__": 0.001}},
    )
    logs = {"log_level": "ERROR", "enable_access_log": False}
    options = {"host": host, "port": port, "request_timeout_s": _REQUEST_SECONDS}
    serve.start(proxy_location="HeadOnly", http_options=options, logging_config=logs)
    service = deployment.bind(dataclasses.replace(manifest, shards=()), handles, groups, deadline)
    serve.run(service, name=_NAME, route_prefix="/", logging_config=logs)


def _stop():
    """Deletes the service and disconnects, which also stops a Ray that was started for it."""
    with quietly():
        if ray.is_initialized():
            with contextlib.suppress(Exception):  # it may not have been started
                serve.delete(_NAME)
        ray.shutdown()
