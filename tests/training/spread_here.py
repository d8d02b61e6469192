"""A process that does a job by a Ray of its own, and prints where Ray listens and what is answered there."""

import json
import os
import sys

from tests.processes import descendants, listening, status_of_metrics
from training.spreading.workers import Workers, clock

if __name__ == "__main__":
    with Workers(clock, sys.argv[1]) as spread:
        done = {name: result for name, result, _ in spread.do({"a": (61,)})}
        ports = sorted(listening([os.getpid(), *descendants(os.getpid())]))
        found = [(address, port, status_of_metrics(port)) for address, port in ports]
    print(json.dumps({"done": done, "ports": found}))
