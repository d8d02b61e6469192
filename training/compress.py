"""Makes a trained model smaller and faster, in steps that follow each other.

    python -m training.compress --model=RUN/best.keras --output=RUN/small.keras \
        --step="slim groups=8 epochs=20" --step="prune sparsity=0.5" --step=quantize

- `slim` removes attention groups, heads, mlp_units, kernels or blocks: the arguments of `hsvit_keras.slim`;
- `prune` sets small weights to zero: sparsity, pattern, scope, skip;
- `quantize` computes with 8 bits: scheme, skip; with epochs=0 ranges are calibrated and nothing is trained;
- `finetune` only trains.

Each step trains its `epochs`, with the original as teacher where outputs are logits of classes. Every setting
of training can be a step's own, as in `learning_rate=1e-4`, or that of all, as in
`--config.learning_rate=1e-4`; `--config` takes a file with steps and settings, which
training/configs/compress_base.py lists with their defaults. The data set is the one that the model says. A
model that does not say it needs `--config.data=NAME`, and one that does not say the values of its pixels
`--config.input_range="(0, 255)"`, those of black and white.

Beside `small.keras` lie `small.compress.json`, the table of quality on the test part, size and multiply-adds
after each step, and the folder `small.steps` with a run for each step. A compression that was killed goes on
when it is started again: after the last finished step, or the last epoch within a step.
"""

import pathlib

from absl import flags

from command_line import bounded, commands, config_files

FLAGS = flags.FLAGS


def define_flags():
    default = pathlib.Path(__file__).with_name("configs") / "compress_base.py"
    flags.DEFINE_string("model", None, "The .keras file of a trained model.", required=True)
    flags.DEFINE_string("output", None, "The .keras file to write.", required=True)
    flags.DEFINE_multi_string("step", [], "A step, such as 'slim groups=8 epochs=20'. May be repeated.")
    bounded.data_dir()
    config_files.define_flag("File with steps and settings.", default)


def main(_):
    from training.compressing.chain import parse_step
    from training.compressing.compression import compress

    if FLAGS.step:
        FLAGS.config.steps = tuple(map(parse_step, FLAGS.step))
    compress(FLAGS.model, FLAGS.output, FLAGS.config, FLAGS.data_dir)


if __name__ == "__main__":
    define_flags()
    commands.run(main)
