"""Measures on a phone: sends models to the benchmark app, starts a run, fetches its report and shows it.

    python -m export.phone run --bundle=FOLDER --output=phone.json
    python -m export.phone run --original=best.keras --mobile=int8.tflite,dynamic.tflite --output=phone.json
    python -m export.phone pull --output=phone.json
    python -m export.phone report --output=phone.json

`run` does everything; without --bundle and --original it measures the models that come with the app. `pull`
fetches a report again, the newest if no --run_id is given. `report` makes the page, phone.html, of a report
that was fetched before. `export.bundle` makes a bundle of models and images. The phone has to be reachable by
adb and unlocked, with the app installed (--apk installs it).
"""

import contextlib
import functools
import pathlib
import shlex
import sys
import tempfile

from absl import flags

from command_line import bounded, commands, model_data
from export.phones import adb, app
from hsvit_runtime import files, outputs
from hsvit_runtime.errors import InputError

FLAGS = flags.FLAGS

_OF_PHONE, _OF_PULL = ("serial", "adb"), ("run_id",)
_OF_RUN = (
    *(
        "bundle",
        "original",
        "mobile",
        "data",
        "data_dir",
        "input_range",
        "pairs",
        "threads",
        "blocks",
        "runs",
    ),
    *("block", "warmup", "cooldown", "limit", "cool", "sustained", "thread_sweep", "cores"),
    *("accelerator", "xnnpack", "fp16", "apk", "timeout"),
)
_ENDS = {"done": "left no report", "cancelled": "was cancelled"}


def define_flags():
    flags.DEFINE_string("output", None, "JSON file for the phone's report; the page is written beside it.")
    flags.DEFINE_string("bundle", None, "Folder with models and their bundle.json, to send to the phone.")
    flags.DEFINE_string("original", None, "Instead of a bundle: the trained .keras model.")
    bounded.names("mobile", None, "Its .tflite artifacts, separated by commas.")
    model_data.define_flags()
    flags.DEFINE_string("pairs", "all", "Which pairs of the bundle to measure, separated by commas.")
    bounded.threads()
    bounded.blocks(None, "Blocks of runs for each model; the app's own number if not given.")
    bounded.runs(None, "Least timed runs in a block, as --blocks.")
    bounded.number("block", None, "Least time of a block, seconds, as --blocks.", 0, 60)
    bounded.number(
        "warmup",
        None,
        "Longest warm-up before each block, seconds, as --blocks; it ends once the latency is steady.",
        0,
        600,
    )
    bounded.cooldown(None, "Pause before each block, seconds, as --blocks.")
    bounded.integer(
        "limit",
        None,
        "Longest time of all blocks, sweeps and sustained runs, seconds, as --blocks; then there are fewer.",
        1,
        86_400,
    )
    bounded.integer("cool", None, "Longest wait until a warm phone is cool, seconds, as --blocks.", 0, 3600)
    bounded.integer(
        "sustained", None, "Runs each model without a pause for so long, seconds, as --blocks.", 0, 7200
    )
    bounded.names("cores", None, "Cores to run on, such as 4-7 or 4,5; a phone that refuses it says so.")
    flags.DEFINE_bool("thread_sweep", None, "Whether to time every number of threads on the CPU.")
    bounded.names(
        "accelerator",
        None,
        "What runs the models, separated by commas: cpu, gpu, npu, which is what NNAPI offers, deprecated "
        "since Android 15.",
        known=["cpu", "gpu", "npu"],
    )
    flags.DEFINE_bool("xnnpack", None, "Whether the CPU's kernels are XNNPACK's, as --blocks.")
    flags.DEFINE_bool("fp16", None, "Whether GPU and NPU may compute in half precision, as --blocks.")
    flags.DEFINE_string("apk", None, "The app's file, to install it first.")
    flags.DEFINE_string("serial", None, "Which phone, where there are several; `adb devices` lists them.")
    flags.DEFINE_string("adb", "adb", "The program adb.")
    bounded.number("timeout", 300, "Seconds that the app may tell nothing new.", 1, 86_400)
    flags.DEFINE_string("run_id", None, "For pull: which run's report; the newest if not given.")
    flags.mark_flag_as_required("output")


def main(arguments):
    actions = {"run": _run, "pull": _pull, "report": _show}
    (action,) = arguments
    if action not in actions:
        raise InputError(f"the action is one of {', '.join(actions)}; received {action!r}")
    useless = {"run": _OF_PULL, "pull": _OF_RUN, "report": (*_OF_RUN, *_OF_PULL, *_OF_PHONE)}
    commands.refuse_useless(f"for {action}", *useless[action])
    _check_outputs()
    actions[action]()


def _run():
    _check_flags()
    device = adb.connect(FLAGS.adb, FLAGS.serial)
    settings = {
        name: FLAGS[name].value for name in ("threads", "blocks", "runs", "xnnpack", "fp16", "thread_sweep")
    }
    for name in ("accelerator", "cores"):
        settings[name] = ",".join(FLAGS[name].value) if FLAGS[name].value else None
    for name in ("block", "warmup", "cooldown"):
        seconds = FLAGS[name].value
        settings[f"{name}_ms"] = None if seconds is None else round(1000 * seconds)
    for name in ("limit", "cool", "sustained"):
        settings[f"{name}_s"] = FLAGS[name].value
    with _bundle() as folder:
        run(
            device,
            FLAGS.output,
            bundle=folder,
            pairs=FLAGS.pairs,
            settings=settings,
            apk=FLAGS.apk,
            timeout=FLAGS.timeout,
        )
    _show()


def _check_outputs():
    outputs.check(FLAGS.output, outputs.json_with("models", "pairs"))
    outputs.check(pathlib.Path(FLAGS.output).with_suffix(".html"), outputs.PAGE)


def _check_flags():
    if bool(FLAGS.original) != bool(FLAGS.mobile):
        raise InputError("--original and --mobile belong together: the pairs to measure")
    if FLAGS.original and FLAGS.bundle:
        raise InputError("--bundle holds the models already; name it, or --original and --mobile")
    if not FLAGS.original:
        commands.refuse_useless("without --original", "data", "data_dir", "input_range")


@contextlib.contextmanager
def _bundle():
    """The folder to send: the bundle, or one made of the artifacts; None for the app's own models."""
    if not FLAGS.original:
        yield FLAGS.bundle
        return
    commands.import_keras()
    from export.bundles import writing

    with tempfile.TemporaryDirectory() as folder:
        made = pathlib.Path(folder, pathlib.Path(FLAGS.original).stem)
        print(f"makes a bundle of {FLAGS.original} and its artifacts, with images of its data set")
        data = {name: FLAGS[name].value for name in ("data", "data_dir", "input_range")}
        original = writing.Original(FLAGS.original, FLAGS.mobile)
        writing.write(writing.Request([original], str(made), **data))
        yield made


def run(device, output, *, bundle=None, pairs="all", settings=None, apk=None, timeout=300):
    """Measures on a phone and fetches the report.

    Args:
        device: `adb.Device`.
        output: path of the JSON file to write.
        bundle: path of a folder with a bundle.json; None for the models that come with the app.
        pairs: str, names of the bundle's pairs separated by commas, or "all".
        settings: dict, see `app.start`.
        apk: path of the app's file, to install it first.
        timeout: float, seconds that the app may tell nothing new.

    Returns:
        dict, the report.

    Raises:
        PhoneError: the phone or the app failed, or the run was ended; finished pairs are in `output` then.
        InputError: the phone's report does not follow the schema, or a file cannot be used.
    """
    with files.replacing(output) as temporary:  # fails here, not after the run
        storage = app.require(device, apk)
        if not app.wake(device):
            print(f"{device.name} refuses adb's keys: keep its screen on and unlocked by hand")
        name = None if bundle is None else app.push_bundle(storage, bundle)
        print(f"measures on {device.name}" + (f", {name} was sent" if name else ""))
        result = _measure(storage, output, timeout, pairs=pairs, bundle=name, settings=settings)
        ended = f"run {result.run_id} {_ENDS.get(result.status, 'failed')} on {device.name}: {result.message}"
        if result.report is None:
            raise adb.PhoneError(ended)
        report = app.fetch_report(storage, result.run_id, temporary)
    if result.status != "done":
        raise adb.PhoneError(f"{ended}; the finished pairs are in {output}")
    return report


def _measure(storage, output, timeout, **what):
    run_id = app.new_run_id()
    app.start(storage.device, run_id, **what)
    later = f"python -m export.phone pull --run_id={run_id} --output={shlex.quote(str(output))}"
    progress = functools.partial(commands.show_progress, "step")
    try:
        return app.follow(storage, run_id, timeout=timeout, progress=progress)
    except KeyboardInterrupt:
        print(f"\nthe phone goes on measuring; later: {later}", file=sys.stderr)
        raise
    except adb.PhoneError as error:
        raise adb.PhoneError(f"{error}; pairs that it finished: {later}") from error


def _pull():
    device = adb.connect(FLAGS.adb, FLAGS.serial)
    storage = app.require(device)
    run_id = FLAGS.run_id or app.latest_report(storage)
    with files.replacing(FLAGS.output) as temporary:
        app.fetch_report(storage, run_id, temporary)
    print(f"wrote {FLAGS.output}, of run {run_id} on {device.name}")


def _show():
    """Prints the numbers of the report and writes its page, together with other results in its folder."""
    from export.benchmarking.table import table
    from export.page import building, run_folder

    output = pathlib.Path(FLAGS.output)
    found = run_folder.read_run(output.parent, benchmarks=[output])
    print(table(found.benchmarks[0]))
    building.write(found, output.with_suffix(".html"))


if __name__ == "__main__":
    define_flags()
    commands.run(main, uses_keras=False, argument="action: run, pull or report")
