"""The artifacts of a study of compression: do they compute what their Keras models do, and how fast?

    python -m export.study --study=DIR/study.json

Reads what `training.compression_study` wrote. Each original is converted with the presets float32, float16
and dynamic, each compressed model with float32 and dynamic, or with int8 where it is quantized. All artifacts
of a model are timed in turn, in one run, against the original's float32. Beside the study come the folder
`DIR/artifacts` and `DIR/artifacts.json`, which also names the artifacts that were refused.
"""

from absl import flags

from command_line import bounded, commands

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("study", None, "The study.json of training.compression_study.", required=True)
    bounded.data_dir()
    bounded.blocks(20, least=2)
    bounded.runs(10)


def main(_):
    from export.studying import study_artifacts

    report = study_artifacts.study(FLAGS.study, FLAGS.data_dir, blocks=FLAGS.blocks, runs=FLAGS.runs)
    print(study_artifacts.table(report))
    for one in report["refused"]:
        print(f"refused: {one['model']}, {one['chain']}, {one['preset']}: {one['reason']}")
    print(f"wrote {study_artifacts.report_beside(FLAGS.study)}")


if __name__ == "__main__":
    define_flags()
    commands.run(main)
