"""Jobs in workers of Ray, on this machine or all over a cluster: each is done, whichever worker is lost.

A job is a call of a function that goes on where it was, such as a training in a folder of its own: if its
worker or the machine of it is lost, it is given to another one. On a cluster all machines have to see the
folders under the same paths; they get the program from here.
"""

import contextlib
import os
import pathlib
import socket
import time
import warnings

from absl import flags

from command_line import bounded, private_ray
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS
LOCAL = "local"
_LIVES = 3  # how many workers may be lost in one job before it is given up
_MEMORY = 100 * 2**20  # bytes for objects that workers share, of which there are few
_ROOT = pathlib.Path(__file__).parents[2]
_PACKAGES = ("command_line", "data_sets", "hsvit_keras", "hsvit_runtime", "measuring", "training")

# Keeps Ray from reporting its use, and from messages on the terminal.
_SILENCE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",  # a worker that died is named in a line of our own
}


def define_flags(ray=None, workers=2):
    """The flags `--ray` and `--workers`, with their defaults."""
    flags.DEFINE_string(
        "ray", ray, "Where trainings run: 'local' for processes here, or HOST:PORT of a cluster of Ray."
    )
    bounded.integer("workers", workers, "Trainings at a time, with --ray.", 1, 10_000)


class Workers:
    """Does jobs; a context. Ray is started, or its cluster joined, with the first job.

    Args:
        function: function from a module that workers can import; it is called with a job's arguments.
        folder: path of the folder of all that jobs write.
        count: int, jobs at a time.
        ray: str, `"local"`, or `HOST:PORT` of a cluster.
    """

    def __init__(self, function, folder, count=2, ray=LOCAL):
        self._function, self._folder, self._count, self._ray = function, pathlib.Path(folder), count, ray
        self._remote = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._remote:
            import ray

            ray.shutdown()

    def do(self, jobs):
        """Does jobs, and yields (name, what its call returned, seconds from the start) as each ends.

        Args:
            jobs: dict from a job's name to the tuple of its arguments.

        Raises:
            InputError: workers were lost again and again, or the cluster cannot be joined.
            Exception: whatever the function raised.
        """
        if not jobs:
            return
        self._start()
        import ray
        from ray.exceptions import NodeDiedError, OutOfMemoryError, WorkerCrashedError

        start, lives, waiting, running = time.monotonic(), dict.fromkeys(jobs, _LIVES), list(jobs), {}
        while waiting or running:
            while waiting and len(running) < self._count:
                name = waiting.pop(0)
                running[self._remote.remote(*jobs[name])] = name
            (done, *_), _ = ray.wait(list(running), num_returns=1)
            name = running.pop(done)
            try:
                result = ray.get(done)
            except (WorkerCrashedError, NodeDiedError, OutOfMemoryError):
                lives[name] -= 1
                if not lives[name]:
                    raise InputError(
                        f"{_LIVES} workers died in {name}, in {self._folder}: is there memory for "
                        f"--workers={self._count} trainings at a time?"
                    ) from None
                print(f"a worker died; {name} goes on from its last epoch", flush=True)
                waiting.insert(0, name)
                continue
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            yield name, result, time.monotonic() - start

    def _start(self):
        if self._remote is None:
            self._remote = _start_ray(self._function, self._count, self._ray, self._folder)


def absolute(folder):
    """The path of a folder from anywhere; None stays None."""
    return folder and str(pathlib.Path(folder).expanduser().resolve())


def clock(seconds):
    """Minutes and seconds as text."""
    minutes, seconds = divmod(round(seconds), 60)
    return f"{minutes}:{seconds:02}"


def _start_ray(function, count, address, folder):
    """Starts or joins Ray; gives the function that runs `function` in a worker."""
    for name, value in _SILENCE.items():
        os.environ.setdefault(name, value)
    if address == LOCAL:
        private_ray.prepare()
    from hsvit_runtime.native_output import quietly

    with quietly(), contextlib.redirect_stdout(None), warnings.catch_warnings():
        # JAX warns of forking with threads; what Ray forks starts another program at once.
        warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called")
        import ray

        if address == LOCAL:
            # Each worker takes its share of the cores.
            threads = max(1, len(os.sched_getaffinity(0)) // count)
            os.environ.setdefault("TF_NUM_INTRAOP_THREADS", str(threads))
            ray.init(
                address="local",  # a cluster of its own, not one that runs on this machine
                num_cpus=count,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="FATAL",
                object_store_memory=_MEMORY,
            )
            return ray.remote(num_cpus=1, max_retries=0)(function)
        _join(address)
        gpus = 1 if ray.cluster_resources().get("GPU") else 0
        mark = folder.resolve() / ".spread"
        mark.touch()

        def job(*arguments):
            return _call(function, str(mark), arguments)

        return ray.remote(num_cpus=1, num_gpus=gpus, max_retries=0, scheduling_strategy="SPREAD")(job)


def _join(address):
    """Joins a cluster, whose machines get the packages of this one."""
    import ray

    _check_that_it_listens(address)
    try:
        ray.init(
            address=address,
            log_to_driver=False,
            logging_level="FATAL",
            runtime_env={
                "py_modules": [str(_ROOT / package) for package in _PACKAGES],
                "env_vars": {**_SILENCE, "KERAS_BACKEND": os.environ.get("KERAS_BACKEND", "tensorflow")},
            },
        )
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"--ray={address}: this cluster cannot be joined: {reason}") from error


def _check_that_it_listens(address):
    """Raises `InputError` at once where nothing listens: Ray would try for minutes."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal():
        raise InputError(f"--ray takes 'local', or HOST:PORT of a cluster; received {address!r}")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as error:
        raise InputError(f"--ray={address}: this cluster cannot be joined: {error}") from error


def _call(function, mark, arguments):
    """Calls a function, in a worker that may be on another machine."""
    if not pathlib.Path(mark).is_file():
        raise InputError(
            f"{socket.gethostname()} does not see {pathlib.Path(mark).parent}: all machines of the cluster "
            "need the workdir and the images under the same paths, as on a shared disk"
        )
    return function(*arguments)
