"""One of several processes that train rows: trains the runs that it reads, as JSON, from its input."""

import json
import pathlib
import sys

from command_line import commands


def main(_):
    from training.tabulating.plan import Run
    from training.tabulating.running import work

    entries = json.load(sys.stdin)
    work([Run(**{**entry, "path": pathlib.Path(entry["path"])}) for entry in entries])


if __name__ == "__main__":
    commands.run(main)
