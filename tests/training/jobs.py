"""Jobs for workers of Ray."""

import pathlib
import time

import ray


def where(name, folder):
    """The machine that does this job, by Ray's name; job b hangs at first, and job a ends once it does."""
    note, here = pathlib.Path(folder, "b"), ray.get_runtime_context().get_node_id()
    if name == "b" and not note.is_file():
        note.write_text(here)
        time.sleep(600)
    while not note.is_file():
        time.sleep(0.1)
    return here
