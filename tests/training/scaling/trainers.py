"""Stand-ins for a training, for workers of Ray to run."""

import os
import pathlib
import signal
import time


def accuracy_of_depth(values, folder, data_dir):
    """An accuracy from the config alone; leaves a line for each call."""
    _note(folder)
    return {"val_accuracy": values["model_arguments"]["depth"] / 100, "val_loss": 1.0}


def killed_once(values, folder, data_dir):
    """Is killed, as without memory, the first time that it works in a folder."""
    if not pathlib.Path(folder, "calls").is_file():
        _note(folder)
        os.kill(os.getpid(), signal.SIGKILL)
    return accuracy_of_depth(values, folder, data_dir)


def failing(values, folder, data_dir):
    """Finds no images at depth 1, and is always killed at other depths."""
    if values["model_arguments"]["depth"] == 1:
        raise FileNotFoundError(f"there is no folder {data_dir}")
    os.kill(os.getpid(), signal.SIGKILL)


def sleeping(values, folder, data_dir):
    _note(folder)
    time.sleep(600)


def _note(folder):
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    with pathlib.Path(folder, "calls").open("a") as calls:
        calls.write(f"{os.getpid()}\n")
