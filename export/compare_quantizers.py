"""Compares our quantization after training with that of other tools, on small models trained on digits.

    python -m export.compare_quantizers --workdir=DIR

`DIR/quantizers.json` has how near each stays to its float model, and how many ops compute with integers. A
comparison that was interrupted goes on. `pip install "hsvit-keras[quantizers]"` brings one of the tools.
"""

from absl import flags

from command_line import bounded, commands

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("workdir", None, "Folder of the models and of the comparison.", required=True)
    bounded.names("models", [], "Models to compare; all by default.")
    bounded.epochs(15, "Epochs that a model is trained.")


def main(_):
    from export.quantizers import comparison
    from hsvit_keras.backends import require_backend

    require_backend("tensorflow")
    report = comparison.compare(FLAGS.workdir, FLAGS.models, epochs=FLAGS.epochs)
    print(comparison.summary(report))


if __name__ == "__main__":
    define_flags()
    commands.run(main)
