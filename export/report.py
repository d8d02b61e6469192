"""One page about a run: how it trained, what was exported, how fast that is and how near to the original.

    python -m export.report --workdir=RUN --output=report.html

The page is one file that needs no other; its figures are written beside it as PNG too. It shows what is
in the folder of the run and says what is not: the training's metrics.jsonl and config.json, the
converters' reports, benchmark reports, also those of a phone (`--benchmark=pc.json,phone.json`), and what
`export.arm_cost` counted.
"""

from absl import flags

from command_line import bounded, commands
from export.page import building, run_folder
from hsvit_runtime import outputs

FLAGS = flags.FLAGS


def define_flags():
    flags.DEFINE_string("workdir", None, "Folder of the run.")
    flags.DEFINE_string("output", None, "HTML file to write.")
    bounded.names("benchmark", None, "Benchmark reports; those in --workdir if not given.")
    flags.DEFINE_string("exports", None, "Folder of the artifacts and their reports; --workdir if not given.")
    flags.mark_flags_as_required(["workdir", "output"])


def main(_):
    outputs.check(FLAGS.output, outputs.PAGE)
    run = run_folder.read_run(FLAGS.workdir, exports=FLAGS.exports, benchmarks=FLAGS.benchmark)
    building.write(run, FLAGS.output)


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False)
