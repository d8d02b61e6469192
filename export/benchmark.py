"""How much faster a mobile artifact is than its original, and whether its outputs are still the same.

    python -m export.benchmark --original=model.keras --mobile=float32.tflite,dynamic.onnx --output=R.json

The files are models to measure on this machine (`.keras`, `.tflite`, `.onnx`), or all of them are the saved
output of an official benchmark tool, one run each (see `measuring/official_tools.py`). The JSON follows
`measuring/benchmark.schema.json`.
"""

import pathlib

from absl import flags

from command_line import bounded, commands, model_data
from hsvit_runtime import SUFFIXES, files, outputs
from hsvit_runtime.litert import trial
from measuring import official_tools

FLAGS = flags.FLAGS
_OF_MODELS = (
    *("blocks", "runs", "warmup", "cooldown", "threads"),
    *("data", "data_dir", "input_range", "images"),
)


def define_flags():
    flags.DEFINE_string("original", None, "What to compare with: a model, or a tool's output.", required=True)
    bounded.names("mobile", None, "What to compare with it, separated by commas.", required=True)
    flags.DEFINE_string("output", None, "JSON file to write.", required=True)
    bounded.blocks(20, "Blocks of runs for each model.")
    bounded.runs(10)
    bounded.warmup(3, "Runs before each block that do not count.")
    bounded.cooldown(0, "Pause before each block, seconds.")
    bounded.threads()
    model_data.define_flags()
    bounded.samples("images", 100, "Samples to compare outputs on; 0 for all.", least=0)
    flags.DEFINE_string("device", None, "Where an official tool's output comes from, for the report.")


def main(_):
    paths = [pathlib.Path(path) for path in (FLAGS.original, *FLAGS.mobile)]
    are_models = any(path.suffix in (".keras", *SUFFIXES) for path in paths)
    if are_models:
        commands.refuse_useless("for models, which are measured on this machine", "device")
    else:
        commands.refuse_useless("for the output of official tools, which have measured", *_OF_MODELS)
    commands.import_keras()
    from export.benchmarking import comparing, table

    outputs.check(FLAGS.output, outputs.json_with("models", "pairs"), reads=paths)
    trial.check_runs(paths)
    with files.replacing(FLAGS.output) as temporary:  # a bad place for it shows before the time is spent
        if are_models:
            report = comparing.measure(
                paths,
                blocks=FLAGS.blocks,
                runs=FLAGS.runs,
                warmup=FLAGS.warmup,
                cooldown=FLAGS.cooldown,
                threads=FLAGS.threads,
                data=FLAGS.data,
                data_dir=FLAGS.data_dir,
                samples=FLAGS.images,
                input_range=FLAGS.input_range,
            )
        else:
            report = official_tools.import_results(paths, device_name=FLAGS.device)
        files.write_json(temporary, report)
    print(table.table(report))
    print(f"wrote {FLAGS.output}")


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
