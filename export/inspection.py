"""What is inside a .tflite file, anyone's: tensors, ops, arithmetic, delegation, oldest runtime.

python -m export.inspection M.tflite [--output=R.json] [--runtime=2.16]
"""

from absl import flags

from command_line import commands
from hsvit_runtime import files, inspection, outputs
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("output", None, "JSON file to write the report to.")
    flags.DEFINE_string("runtime", None, "Fail unless this runtime loads the file, such as 2.16.")


def main(arguments):
    (path,) = arguments
    outputs.check(FLAGS.output, outputs.json_with("ops", "custom_ops"), reads=[path])
    report = inspection.inspect(path, runtime=FLAGS.runtime)
    if FLAGS.output:
        files.write_json(FLAGS.output, report)
    print("\n".join(inspection.summary(path, report)))
    if report["loads_on_runtime"] is False:
        raise InputError(f"runtime {FLAGS.runtime} does not load {path}, see above")


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False, argument=".tflite file")
