"""Trains a model: `python -m training.train --config=training/configs/digits.py --workdir=DIR`.

`--images=DIR` in place of a config trains on a folder of class folders: the size of images, mean and standard
deviation, the parts and the weights of classes are found, and said. `--config.init=M.keras` trains a model
on, with a new head (docs/fine_tuning.md).

Any value of the config can be changed, as in `--config.batch_size=64 --config.model=hsvit_c4a8`, and any
argument of the model, as in `--config.model=pit_ti --config.model_arguments.depths="(1, 1, 1)"`. The folder
gets `best.keras` (the model of the best epoch, in float32, without optimizer), `last.keras` (to go on from),
`metrics.jsonl`, TensorBoard events, `curves.png`, `config.json`, `run.json` (the backend) and `summary.json`.

The best epoch is chosen on a tenth of the training part (`--config.validation.share`), or on the set's own
validation part, and `best.keras` is evaluated on the test part once, at the end. `--config.validation=test`
chooses on the test part, as the papers do.

A finished run goes on for more epochs when it is started with more of them: from there on the learning rate
is that of a run of so many.

A run that was killed goes on when it is started again, and ends as if nothing had happened: bit for bit on a
CPU; on a GPU if the environment variable XLA_FLAGS=--xla_gpu_deterministic_ops=true is set.

Several machines train together where each starts this command with --job_addresses, --num_processes and a
--process_id of its own, or with the environment variables that Keras reads, see docs/several_machines.md. The
first, of id 0, has the workdir.
"""

import contextlib
import io
import pathlib
import sys
import traceback

from absl import flags, logging

from command_line import commands, config_files, guarding
from hsvit_runtime.errors import InputError
from training.fitting.hosts import hosts_of, is_loss_of_a_host

FLAGS = flags.FLAGS
_OF_IMAGES = pathlib.Path(__file__).parent / "configs/folder.py"


def define_flags():
    # ml_collections reads changes of a config from the command line at once, so it has to know the file.
    has_images = any(argument.lstrip("-").partition("=")[0] == "images" for argument in sys.argv)
    config_files.define(
        str(_OF_IMAGES) if has_images else None,
        "File with the hyper-parameters.",
        lock_config=False,
        accept_new_attributes=True,  # any argument of the model; `recipe.plain` refuses other new keys
    )
    flags.DEFINE_string("images", None, "Folder of class folders, trained on by the config folder.py.")
    flags.DEFINE_string("workdir", None, "Folder of the run.")
    flags.DEFINE_string("data_dir", None, "Folder with the official files of the data set.")
    flags.DEFINE_enum(
        "distribution",
        None,
        ("data", "groups"),
        "What several devices share, on JAX: the images of each batch, or the attention groups.",
    )
    flags.DEFINE_integer("num_devices", None, "Devices for --distribution, of each machine.", lower_bound=1)
    flags.DEFINE_string("job_addresses", None, "HOST:PORT where the first of several machines listens.")
    flags.DEFINE_integer("num_processes", None, "Machines that train together.", lower_bound=1)
    flags.DEFINE_integer("process_id", None, "Which of them this one is, from 0 on.", lower_bound=0)


def main(_):
    from training.fitting.run import train

    if FLAGS.workdir is None:
        raise InputError("--workdir is needed: the folder of the run")
    if (FLAGS.distribution is None) != (FLAGS.num_devices is None):
        raise InputError("--distribution and --num_devices need each other")
    if FLAGS.images and (FLAGS.data_dir or FLAGS.config.data != "folder"):
        raise InputError(
            "--images is a folder of class folders, for a config whose data is 'folder', without --data_dir; "
            f"received --config.data={FLAGS.config.data}, --data_dir={FLAGS.data_dir}"
        )
    hosts, data_dir = _hosts(), FLAGS.images or FLAGS.data_dir
    arguments = FLAGS.config, FLAGS.workdir, data_dir, FLAGS.distribution, FLAGS.num_devices, hosts
    quiet = contextlib.nullcontext()
    if not hosts.is_first:
        print(f"{hosts.name}: process 0 writes the run and says how it goes", flush=True)
        quiet = contextlib.redirect_stdout(io.StringIO())
    try:
        with quiet:
            train(*arguments)
    except Exception as error:
        if isinstance(error, InputError | OSError) or not guarding.is_guarded():
            raise
        if is_loss_of_a_host(error):
            logging.debug("where it happened", exc_info=True)
            guarding.end_as_lost()
        traceback.print_exc()
        guarding.end(1)
    if not hosts.is_first:
        print(f"{hosts.name}: done")


def _guard():
    """Among several machines, this process is guarded by another one."""
    hosts = _hosts()
    if hosts.count == 1:
        return
    if FLAGS.distribution is None:
        raise InputError("several processes need --distribution and --num_devices")
    guarding.start(
        f"{hosts.name} did not find the others at {hosts.addresses} within five minutes",
        f"{hosts.name} lost the connection to another one, which ended or cannot be reached: start the "
        "command again on all machines to go on from the last finished epoch",
    )


def _hosts():
    return hosts_of(FLAGS.job_addresses, FLAGS.num_processes, FLAGS.process_id)


if __name__ == "__main__":
    define_flags()
    commands.run(main, first=_guard)
