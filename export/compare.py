"""Which model for my phone? Makes artifacts of several models, measures them in turn, and draws the front.

    python -m export.compare --models=a.keras,b.keras --workdir=DIR
    python -m export.compare --runs=RUNS --workdir=DIR

The models are those of one task and data set, of one size of images. `DIR/comparison.html` shows the task's
metric against latency, instructions and size, with the Pareto fronts; `comparison.json` beside it has the
numbers, `benchmark.json` and `arm_cost.json` all that was measured. `DIR/bundle` is what the Android app
measures on the phone. Killed, it goes on with the artifacts that are there.
"""

import pathlib

from absl import flags

from command_line import bounded, commands, model_data
from export.converting import options
from hsvit_runtime import files
from hsvit_runtime.errors import InputError
from hsvit_runtime.presets import PRESETS
from measuring.arm_cost import emulation

FLAGS = flags.FLAGS
_SAMPLES = 256  # whose outputs an artifact is compared on before it is written


def define_flags():
    bounded.names("models", [], "The .keras files to compare.")
    flags.DEFINE_string("runs", None, "Or a folder of runs of training.train: the best model of each.")
    flags.DEFINE_string("workdir", None, "Folder to write; one that is there is gone on with.", required=True)
    flags.DEFINE_multi_enum(
        "preset", ["float32", "dynamic", "int8"], list(PRESETS), "A preset to make; may be repeated."
    )
    model_data.define_flags()
    options.define_calibration_flags()
    options.define_loss_flag()
    bounded.samples("samples", 0, "Samples of the test part to judge on; 0 for all.", least=0)
    bounded.blocks(20, least=2)
    bounded.runs(10, name="block_runs")
    bounded.threads()
    flags.DEFINE_enum("core", "cortex-a76", list(emulation.CORES), "Core whose instructions are counted.")
    flags.DEFINE_bool("bundle", True, "Write the bundle for the app, too.")


def main(_):
    from data_sets import load_dataset
    from export.benchmarking.table import warnings
    from export.choosing import artifacts, bundling, comparison, models, page
    from hsvit_keras.backends import require_backend

    require_backend("tensorflow")
    options.check_calibration(list(dict.fromkeys(FLAGS.preset)))
    if FLAGS.samples == 1:
        raise InputError("--samples=1 has no standard error: at least 2 are needed, or 0 for all")
    candidates = models.read(_paths(models), FLAGS.data)
    models.check_labels(candidates, load_dataset(candidates[0].data_set, "test", FLAGS.data_dir))
    workdir = pathlib.Path(FLAGS.workdir)
    with files.making_folder(workdir):
        conversion = artifacts.Conversion(
            presets=list(dict.fromkeys(FLAGS.preset)),
            settings=options.settings_of,
            samples=lambda model: options.samples_for(model, _SAMPLES),
            calibration=options.own_calibration_for,
            allow_loss=FLAGS.allow_loss,
        )
        made = artifacts.make(candidates, workdir / "artifacts", conversion)
        data = {"data": FLAGS.data, "data_dir": FLAGS.data_dir, "input_range": FLAGS.input_range}
        found, benchmark, cost = comparison.compare(
            made,
            workdir,
            core=FLAGS.core,
            blocks=FLAGS.blocks,
            runs=FLAGS.block_runs,
            threads=FLAGS.threads,
            samples=FLAGS.samples,
            **data,
        )
        print("\n".join([comparison.table(found), *warnings(benchmark), *found["answer"]]))
        reports = [artifact.report for artifact in made if artifact.report]
        page.write(workdir / "comparison.html", found, benchmark, cost, reports)
        if FLAGS.bundle:
            bundling.write(candidates, workdir, conversion, **data)


def _paths(models):
    """dict from name to path of the models that the flags name."""
    if bool(FLAGS.models) == bool(FLAGS.runs):
        raise InputError("name the models by --models=a.keras,b.keras or by --runs=DIR, one of them")
    if FLAGS.models:
        return models.named(FLAGS.models)
    paths, unfinished = models.of_runs(FLAGS.runs)
    for name in unfinished:
        print(f"left out: {name}, whose training has not finished")
    return paths


if __name__ == "__main__":
    define_flags()
    commands.run(main)
