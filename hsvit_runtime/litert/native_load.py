"""Loads the .tflite file on standard input in LiteRT and prints the delegate's partitions as JSON.

A separate program, run by `delegation.observe`, since the runtime may crash on a damaged file or use up all
memory.
"""

import json
import resource
import sys


def main():
    content = sys.stdin.buffer.read()
    _limit(resource.RLIMIT_AS, 4 * 2**30 + 8 * len(content))
    _limit(resource.RLIMIT_CORE, 0)
    from ai_edge_litert.interpreter import Interpreter

    try:
        interpreter = Interpreter(model_content=content)
        interpreter.allocate_tensors()
    except (RuntimeError, ValueError, MemoryError) as error:
        message = str(error).replace("Node number", " Node number")  # LiteRT leaves out this space
        result = {"problem": " ".join(message.split()) or "LiteRT gives no reason, or is out of memory"}
    else:
        partitions = [op for op in interpreter._get_ops_details() if op["op_name"] == "DELEGATE"]
        sides = ("inputs", "outputs")
        result = {"partitions": [{side: [int(t) for t in op[side]] for side in sides} for op in partitions]}
    json.dump(result, sys.stdout)


def _limit(resource_kind, maximum):
    """Limits a resource of this process, to at most the limit that it has already."""
    _, hard = resource.getrlimit(resource_kind)
    maximum = maximum if hard == resource.RLIM_INFINITY else min(maximum, hard)
    resource.setrlimit(resource_kind, (maximum, hard))


if __name__ == "__main__":
    main()
