"""Runs `.tflite` files once by LiteRT, with and without its delegate, and prints each name beforehand.

A separate program, run by `trial.check_runs`: the runtime may crash on a damaged file, and the last name that
was printed is then that of the file.
"""

import resource
import sys

import numpy as np


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    for path in sys.argv[1:]:
        print(path, flush=True)
        for resolver in (OpResolverType.AUTO, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES):
            try:
                interpreter = Interpreter(path, experimental_op_resolver_type=resolver)
                interpreter.allocate_tensors()
                for tensor in interpreter.get_input_details():
                    interpreter.set_tensor(tensor["index"], np.zeros(tensor["shape"], tensor["dtype"]))
                interpreter.invoke()
            except (RuntimeError, ValueError):  # whoever opens the file says what is wrong
                break


if __name__ == "__main__":
    main()
