"""Several processes on the runs of a table or figure: what one claims the others leave."""

import dataclasses
import json
import os
import subprocess
import sys
import threading


def work_side_by_side(runs, count):
    """Trains runs in several processes, each with its share of the cores, and waits for all.

    Args:
        runs: list of `Run`.
        count: int, processes.

    Returns:
        list of exit statuses.
    """
    threads = max(1, len(os.sched_getaffinity(0)) // count)
    environment = {"TF_NUM_INTRAOP_THREADS": str(threads), "PYTHONUNBUFFERED": "1", **os.environ}
    job = json.dumps([{**dataclasses.asdict(run), "path": str(run.path)} for run in runs])
    workers, readers = [], []
    try:
        for number in range(1, count + 1):
            workers.append(_start(job, environment))
            readers.append(threading.Thread(target=_show, args=(workers[-1], number), daemon=True))
            readers[-1].start()
        for reader in readers:
            reader.join()
        return [worker.wait() for worker in workers]
    finally:
        for worker in workers:
            worker.terminate()
        for worker in workers:
            worker.wait()


def _start(job, environment):
    worker = subprocess.Popen(
        [sys.executable, "-m", "training.tabulating.worker"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    worker.stdin.write(job)
    worker.stdin.close()
    return worker


def _show(worker, number):
    """Prints what a process says, with its number in front."""
    for line in worker.stdout:
        print(f"{number}| {line}", end="", flush=True)
