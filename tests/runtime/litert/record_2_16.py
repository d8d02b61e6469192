"""Records what the delegate of TensorFlow Lite 2.16 does with the graphs of graphs_2_16.py.

    python3.11 -m venv DIR && DIR/bin/pip install tensorflow-cpu==2.16.2
    python -m tests.runtime.litert.record_2_16 DIR/bin/python

writes delegate_2_16.json, which test_xnnpack_2_16.py compares the rules with.
"""

import json
import pathlib
import subprocess
import sys
import tempfile

from tests.runtime.litert import graphs_2_16, load_all

RECORD = pathlib.Path(__file__).with_name("delegate_2_16.json")


def main(python):
    graphs = graphs_2_16.graphs()
    with tempfile.TemporaryDirectory() as folder:
        for number, content in enumerate(graphs.values()):
            (pathlib.Path(folder) / f"{number:04}.tflite").write_bytes(content)
        done = subprocess.run(
            [python, load_all.__file__, folder], stdout=subprocess.PIPE, check=True, text=True
        )
    plans = json.loads(done.stdout)
    lines = [f"{json.dumps(name)}: {json.dumps(plans[f'{i:04}'])}" for i, name in enumerate(graphs)]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    print(f"wrote {RECORD}, {len(lines)} graphs")


if __name__ == "__main__":
    main(sys.argv[1])
