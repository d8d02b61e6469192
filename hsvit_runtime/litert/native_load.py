"""Loads the .tflite on standard input in LiteRT and prints what the delegate took, as JSON.

A program of its own, run by `delegation.observe`: the runtime may crash on a bad file, or take all memory.
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
        sentences = str(error).replace("Node number", " Node number")  # LiteRT forgets the space
        answer = {"problem": " ".join(sentences.split()) or "it does not say why, or lacks memory"}
    else:
        partitions = [op for op in interpreter._get_ops_details() if op["op_name"] == "DELEGATE"]
        sides = ("inputs", "outputs")
        answer = {"partitions": [{side: [int(t) for t in op[side]] for side in sides} for op in partitions]}
    json.dump(answer, sys.stdout)


def _limit(what, most):
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, hard))


if __name__ == "__main__":
    main()
