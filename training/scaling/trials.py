"""Trainings in processes side by side, by Ray on this machine: each configuration once, whatever happens.

A trial is a run of `training.train` in a folder of its own. A worker that dies is replaced and its trial goes
on from the last finished epoch, as does a search that was killed and is started again. `trials.jsonl` has a
line for each trial that ended.
"""

import contextlib
import hashlib
import os
import pathlib
import time
import warnings

from hsvit_runtime.errors import FileError, InputError
from training.run_files.claiming import claim
from training.scaling.records import Records, canonical

_LIVES = 3  # how many workers may die in one trial before it is given up
_MEMORY = 100 * 2**20  # bytes for objects that workers share, of which there are few

# Keeps Ray from reporting its use, and from messages on the terminal.
_SILENCE = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DISABLE_IMPORT_WARNING": "1",
    "RAY_DEDUP_LOGS_SKIP_REGEX": ".*",  # a worker that died is named in a line of our own
}


def train_trial(values, folder, data_dir):
    """Trains one configuration; in a process of a worker.

    Args:
        values: plain config of `training.train`.
        folder: path of its run.
        data_dir: folder of the image set, or None.

    Returns:
        dict of the loss and the metrics in validation after the last epoch, such as `val_loss`, `parameters`
        and `seconds`; or of `error`, why it cannot be trained.
    """
    from command_line import commands

    commands.import_keras()
    import keras
    from ml_collections import ConfigDict

    from training.fitting.run import train

    keras.utils.clear_session()  # of the trial before
    try:
        summary = train(ConfigDict(values), folder, data_dir)
    except FileError:  # what is wrong with the images is wrong for every trial
        raise
    except InputError as error:  # its loss became NaN, or the model does not fit
        return {"error": str(error)}
    return {
        **{name: value for name, value in summary["last"].items() if name.startswith("val_")},
        "parameters": summary["parameters"],
        "seconds": summary["seconds"],
    }


class Trials:
    """Trains configurations, and knows those that were trained; a context.

    Args:
        workdir: path of a folder, made where it is not there.
        data_dir: folder of the image set, or None.
        workers: int, trainings at a time.
        train: function as `train_trial`, from a module that workers can import.

    Raises:
        ValueError: another process works in this folder, or its `trials.jsonl` is damaged.
    """

    def __init__(self, workdir, *, data_dir=None, workers=2, train=train_trial):
        self._workdir, self._data_dir = pathlib.Path(workdir), data_dir
        self._workers, self._train, self._remote = workers, train, None
        self._workdir.mkdir(parents=True, exist_ok=True)
        self._lock = _locked(self._workdir / "lock")
        self._records = Records(self._workdir / "trials.jsonl")
        self._known = {row["trial"]: row for row in self._records.rows}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._remote:
            import ray

            ray.shutdown()
        self._lock.close()

    def __call__(self, configs, facts=None):
        """Trains what was not trained yet.

        Args:
            configs: list of plain configs.
            facts: list of dicts, what the line of each in `trials.jsonl` holds with its results.

        Returns:
            list of dicts as of `train_trial`, in the same order, with the facts of the first time.

        Raises:
            InputError: workers died again and again.
            OSError: the images are not there or one cannot be read.
        """
        keys = [_key(values) for values in configs]
        facts = facts or [{}] * len(configs)
        new = {}
        for key, values, about in zip(keys, configs, facts, strict=True):
            if key not in self._known:
                new.setdefault(key, (values, about))
        if new:
            self._train_all(new)
        return [self._known[key] for key in keys]

    def _train_all(self, new):
        import ray

        start, lives = time.monotonic(), dict.fromkeys(new, _LIVES)
        running = {self._submit(key, new[key][0]): key for key in new}
        while running:
            (done, *_), _ = ray.wait(list(running), num_returns=1)
            key = running.pop(done)
            values, about = new[key]
            try:
                result = ray.get(done)
            except ray.exceptions.WorkerCrashedError:
                lives[key] -= 1
                if not lives[key]:
                    raise InputError(
                        f"{_LIVES} workers died in the trial in {self._folder(key)}: is there memory for "
                        f"--workers={self._workers} trainings at a time?"
                    ) from None
                print(f"a worker died; trial {key} goes on from its last epoch", flush=True)
                running[self._submit(key, values)] = key
                continue
            except ray.exceptions.RayTaskError as error:
                raise error.cause from None
            self._known[key] = {"trial": key, **about, **_named(values), **result}
            self._records.append(self._known[key])
            print(_progress(self._known[key], len(new) - len(running), len(new), start), flush=True)

    def _submit(self, key, values):
        if self._remote is None:
            self._remote = _start_ray(self._workers, self._train)
        return self._remote.remote(values, str(self._folder(key)), self._data_dir)

    def _folder(self, key):
        return self._workdir.resolve() / "trials" / key


def _key(values):
    """The name of a trial: of the whole config, so that another budget is another trial."""
    return hashlib.sha256(canonical(values).encode()).hexdigest()[:12]


def _named(values):
    return {
        name: values[name] for name in ("model", "image_shape", "model_arguments", "seed") if name in values
    }


def _progress(row, done, total, start):
    measured = (f"{name} {value:.4f}" for name, value in row.items() if name.startswith("val_"))
    result = f"failed: {row['error']}" if "error" in row else ", ".join(measured)
    about = f"{row['about']}: " if "about" in row else ""
    minutes, seconds = divmod(round(time.monotonic() - start), 60)
    return f"  {done} of {total} after {minutes}:{seconds:02}  {about}{result}"


def _locked(path):
    """An open file that only one process holds at a time."""
    file = claim(path)
    if file is None:
        raise InputError(f"another search works in {path.parent}: wait for it, or use another folder")
    return file


def _start_ray(workers, train):
    """Starts Ray's processes; gives the function that runs `train` in a worker."""
    for name, value in _SILENCE.items():
        os.environ.setdefault(name, value)
    # Each worker takes its share of the cores.
    threads = max(1, len(os.sched_getaffinity(0)) // workers)
    os.environ.setdefault("TF_NUM_INTRAOP_THREADS", str(threads))
    from hsvit_runtime.native_output import quietly

    with quietly(), contextlib.redirect_stdout(None), warnings.catch_warnings():
        # JAX warns of forking with threads; what Ray forks starts another program at once.
        warnings.filterwarnings("ignore", message=r"os\.fork\(\) was called")
        import ray

        ray.init(
            address="local",  # a cluster of its own, not one that runs on this machine
            num_cpus=workers,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="FATAL",
            object_store_memory=_MEMORY,
        )
    return ray.remote(num_cpus=1, max_retries=0)(train)
