"""What each compression costs in quality, for several models: one table.

    python -m training.compression_study --config=training/configs/compress_study_digits.py --workdir=DIR

Each model of the config is trained, and its last epoch is compressed along each chain: nothing is chosen on
the test part, on which the table is measured. `DIR/study.json` has a row for each model and chain, with the
`.keras` file to export. A study that was killed goes on. `--ray=local` studies several models at a time,
`--ray=HOST:PORT` on the machines of a Ray cluster, see docs/several_machines.md.
"""

from absl import flags

from command_line import commands, config_files
from hsvit_runtime.errors import InputError
from training.spreading import workers

FLAGS = flags.FLAGS


def define_flags():
    config_files.define(None, "File with models and chains.")
    flags.DEFINE_string("workdir", None, "Folder of the study.", required=True)
    flags.DEFINE_list("models", [], "Models of the config to study; all by default.")
    flags.DEFINE_string("data_dir", None, "Folder with the official files of the data set.")
    workers.define_flags()


def main(_):
    from training.compressing.study import study

    if FLAGS.config is None:
        raise InputError("--config is needed: a file such as training/configs/compress_study_digits.py")
    study(FLAGS.config, FLAGS.workdir, FLAGS.models, FLAGS.data_dir, FLAGS.workers, FLAGS.ray)


if __name__ == "__main__":
    define_flags()
    commands.run(main)
