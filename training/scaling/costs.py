"""What a model costs on a target: one number with a unit, measured once for each configuration.

    python -m training.scaling.costs deit_tiny --costs=multiply_adds,arm_instructions --breakdown

The first argument is the name of a registered model or a .keras file. Costs of the artifact convert the model
first, which needs TensorFlow, and LiteRT or ONNX Runtime; multiply-adds, parameters and throughput do not.
`--breakdown` of several costs also gives their cosine distances: the nearer two targets are, the better a
model that was scaled for one suits the other.
"""

import hashlib
import inspect
import math
import pathlib
import shlex
import subprocess
import tempfile

from absl import flags

from command_line import bounded, commands, tables
from hsvit_runtime import files, outputs
from hsvit_runtime.errors import InputError
from hsvit_runtime.json_schemas import AMOUNT, TEXT, record
from hsvit_runtime.native_output import quietly
from measuring.arm_cost.emulation import CORES
from training.recipes.rules import NAME, Rule, choice, integer, is_name, number
from training.scaling.records import Records, canonical
from training.scaling.texts import cost_text

FLAGS = flags.FLAGS
PRESETS = ("float32", "float16", "dynamic", "int8")
ACCELERATORS = ("cpu", "gpu", "npu")


# ---- of the model itself ---------------------------------------------------------------------------
def _multiply_adds(model):
    """Multiply-adds of one image, as a phone computes them."""
    from hsvit_keras.compression.counting import count_multiply_adds

    return count_multiply_adds(model)


def _full_multiply_adds(model):
    """As papers count: also what the last block computes for tokens that are not used."""
    import keras

    from hsvit_keras.layers import FirstToken, TokenRange

    tokens = [layer.input for layer in model.layers if isinstance(layer, FirstToken | TokenRange)]
    return _multiply_adds(keras.Model(model.inputs[0], [*model.outputs, *tokens]))


def _parameters(model):
    """Trainable parameters."""
    from hsvit_keras.compression.counting import count_parameters

    return count_parameters(model)


def _throughput(model, memory_gib=None, blocks=3, runs=3):
    """Time of an image in the largest batch that fits into memory, on this machine, by Keras."""
    from training.scaling.throughput import milliseconds_per_image

    return milliseconds_per_image(model, memory_gib, blocks, runs)[0]


# ---- of its artifact, given its path ---------------------------------------------------------------
def _artifact_bytes(path):
    """Size of the artifact."""
    return pathlib.Path(path).stat().st_size


def _artifact_multiply_adds(path):
    """Multiply-adds of one image in the artifact."""
    from hsvit_runtime.inspection import inspect

    return inspect(path)["total_macs"]


def _litert_latency(path, blocks=5, runs=20):
    """Median latency of LiteRT on one thread of this machine."""
    from hsvit_runtime.tflite_model import TFLiteModel

    return _median_latency(TFLiteModel(path), blocks, runs)


def _onnx_latency(path, blocks=5, runs=20):
    """Median latency of ONNX Runtime on one thread of this machine."""
    from hsvit_runtime.onnx_model import OnnxModel

    return _median_latency(OnnxModel(path), blocks, runs)


def _median_latency(model, blocks, runs):
    import statistics

    import numpy as np

    from measuring.timing import time_interleaved

    inputs = {tensor.name: np.ones(tensor.shape, tensor.dtype) for tensor in model.inputs}
    (timing,) = time_interleaved([lambda: model.run(inputs)], blocks=blocks, runs=runs, warmup=3)
    return statistics.median(latency for block in timing.blocks_ms for latency in block)


def _arm_instructions(path, core="cortex-a76"):
    """Instructions of one inference on the CPU core of a phone, under emulation."""
    from measuring import arm_cost

    return arm_cost.instructions(path, core=core)


def _phone_report(path, report, accelerator=None):
    """Median latency on a phone, from a report of the Android app that measured this file."""
    return _reported(path, report, accelerator, "the Android app")


def _browser_report(path, report, accelerator=None):
    """Median latency in a browser, from a report of the web page that measured this file."""
    return _reported(path, report, accelerator, "the web page")


def _reported(path, report, accelerator, program):
    """The median latency of a file in a benchmark report, on `accelerator` where it is given."""
    from measuring import benchmark_report

    try:
        content = benchmark_report.read(report)
    except InputError as error:
        raise InputError(f"{report} is no report of {program}: {error}") from error
    digest = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()
    for model in content["models"]:
        on = model["accelerator"]["used"] or model["accelerator"]["requested"]
        if model["sha256"] == digest and model["latency_ms"]["p50"] is not None and accelerator in (None, on):
            return model["latency_ms"]["p50"]
    where = f" on {accelerator}" if accelerator else ""
    raise InputError(
        f"{report} has no latency of {path}{where}: measure this file with {program}, and give the report "
        "anew"
    )


def _phone_command(path, command):
    """Median latency that a command of the user's prints, in which {artifact} stands for the file."""
    if "{artifact}" not in command:
        raise InputError(f"the command has to say where the file goes, as {{artifact}}; received {command!r}")
    words = [word.replace("{artifact}", str(path)) for word in shlex.split(command)]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        *_, reason = (done.stderr or done.stdout).strip().splitlines() or ["it says nothing"]
        raise InputError(f"the command ended with status {done.returncode}: {reason}")
    *_, last = done.stdout.strip().splitlines() or [""]
    try:
        value = float(last)
    except ValueError:  # no number, so all of it may be the output of a tool
        return _printed_by_tool(done.stdout)
    if not 0 < value < math.inf:
        raise InputError(f"the command has to print a number of milliseconds above 0; received {last!r}")
    return value


def _printed_by_tool(text):
    """The latency that an official benchmark tool printed."""
    from measuring import official_tools

    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write(text)
        file.flush()
        try:
            _, model = official_tools.read_result(file.name)
        except InputError:
            raise InputError(
                "the last line of what the command prints has to be a number of milliseconds, or all of it "
                f"the output of a LiteRT benchmark tool; received {text[-200:]!r}"
            ) from None
    latency = model["latency_ms"]
    return latency["mean"] if latency["p50"] is None else latency["p50"]


UNITS = {
    "multiply_adds": "multiply-adds",
    "full_multiply_adds": "multiply-adds",
    "parameters": "parameters",
    "artifact_bytes": "bytes",
    "litert_latency": "ms",
    "onnx_latency": "ms",
    "throughput": "ms/image",
    "arm_instructions": "instructions",
    "phone_report": "ms",
    "browser_report": "ms",
    "phone_command": "ms",
}
_OF_MODEL = {
    "multiply_adds": _multiply_adds,
    "full_multiply_adds": _full_multiply_adds,
    "parameters": _parameters,
    "throughput": _throughput,
}
_OF_ARTIFACT = {
    "multiply_adds": _artifact_multiply_adds,
    "artifact_bytes": _artifact_bytes,
    "litert_latency": _litert_latency,
    "onnx_latency": _onnx_latency,
    "arm_instructions": _arm_instructions,
    "phone_report": _phone_report,
    "browser_report": _browser_report,
    "phone_command": _phone_command,
}
_SETTINGS = {
    "blocks": integer(1, 1000),
    "runs": integer(1, 10_000),
    "memory_gib": number("above 0 and at most 1e6", lambda value: 0 < value <= 1e6),
    "core": choice(*CORES),
    "report": Rule("a path", lambda value: is_name(value) or isinstance(value, pathlib.Path)),
    "accelerator": choice(*ACCELERATORS),
    "command": NAME,
}
_ROW = record(value=AMOUNT, unit=TEXT)  # a line of costs.jsonl
_ONNX = {"onnx_latency"}  # costs of `.onnx` files; all others are of `.tflite` files


class Cost:
    """A cost with its settings: `cost(model or configuration)` is a number.

    Args:
        name: str, a key of `UNITS`.
        folder: path of a folder for artifacts and for `costs.jsonl`, where configurations that were measured
            are found again; None forgets them.
        preset: str, how the artifact is stored and computes, one of `PRESETS`.
        **settings: of the cost: `core` of arm_instructions, `blocks` and `runs` of latencies and of
            throughput, `memory_gib` of throughput, `report` (path of a JSON file) and `accelerator` of
            phone_report and browser_report, `command` of phone_command.

    Attributes:
        unit: str.
        suffix: str, of the file that is measured.

    Raises:
        ValueError: there is no such cost, preset or setting.
    """

    def __init__(self, name, folder=None, *, preset="float32", **settings):
        if not isinstance(name, str) or name not in UNITS:
            raise InputError(f"there is no cost {name!r}; there are {', '.join(UNITS)}")
        if preset not in PRESETS:
            raise InputError(f"preset has to be one of {', '.join(PRESETS)}; received preset={preset!r}")
        _check_settings(name, settings)
        self.name, self.unit, self.preset, self.settings = name, UNITS[name], preset, settings
        self.suffix = ".onnx" if name in _ONNX else ".tflite"
        self._folder = folder and pathlib.Path(folder)
        self._records = folder and Records(self._folder / "costs.jsonl", _ROW)

    def __call__(self, model):
        """Measures, or remembers.

        Args:
            model: `keras.Model`, or a configuration: dict of the arguments of `create_model`.

        Returns:
            int or float, in `unit`.

        Raises:
            ValueError: the model cannot be built, converted or measured.
            OSError: a file or a Debian package is missing.
            ImportError: what this cost needs is not installed.
        """
        if not isinstance(model, dict):
            return self._measure(lambda: model, None)
        key = {"cost": self.name, **self._settings_of_record(), "configuration": model}
        known = self._recorded(key)
        if known is None:
            known = self._measure(lambda: build(model), model)
            if self._records:
                self._records.append({**key, "value": known, "unit": self.unit})
        return known

    def of_artifact(self, path):
        """The cost of a `.tflite` file, or of an `.onnx` file.

        Raises:
            ValueError: it is no cost of artifacts.
        """
        if self.name not in _OF_ARTIFACT:
            raise InputError(f"an artifact does not tell its {self.name}")
        return _OF_ARTIFACT[self.name](path, **self.settings)

    def artifact(self, model):
        """A context that gives the path of the artifact of a model or configuration."""
        make = (lambda: build(model)) if isinstance(model, dict) else (lambda: model)
        return _Artifact(make, self.preset, self.suffix, self._place(model))

    def _settings_of_record(self):
        of_artifact = {} if self.name in _OF_MODEL else {"preset": self.preset}
        return {**of_artifact, **self.settings}

    def _recorded(self, key):
        """The recorded value of this key, or None."""
        for row in self._records.rows if self._records else ():
            if {name: row[name] for name in row if name not in ("value", "unit")} == key:
                return row["value"]

    def _measure(self, make, configuration):
        if self.name in _OF_MODEL:
            with quietly():  # on JAX, too, Keras loads TensorFlow
                return _OF_MODEL[self.name](make(), **self.settings)
        with _Artifact(make, self.preset, self.suffix, self._place(configuration)) as path:
            return self.of_artifact(path)

    def _place(self, configuration):
        """Where the artifact of a configuration stays; None where it is not kept."""
        if self._folder is None or not isinstance(configuration, dict):
            return None
        digest = hashlib.sha256(canonical(configuration).encode()).hexdigest()[:12]
        return self._folder / "artifacts" / f"{digest}_{self.preset}{self.suffix}"


class _Artifact:
    """Makes an artifact unless there is one; without a place to keep it, it is removed at the end.

    One that is kept is not made anew: a phone's report knows it by its content, and initial weights differ.
    """

    def __init__(self, make, preset, suffix, place):
        self._make, self._preset, self._suffix, self._place = make, preset, suffix, place

    def __enter__(self):
        self._temporary = tempfile.TemporaryDirectory()
        path = self._place or pathlib.Path(self._temporary.name) / f"model{self._suffix}"
        if not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            content = convert(self._make(), self._preset, self._suffix)
            with files.replacing(path) as part:
                part.write_bytes(content)
        return path

    def __exit__(self, *_):
        self._temporary.cleanup()


def build(configuration):
    """The model of a configuration.

    Raises:
        ValueError: an argument is unknown or does not fit.
    """
    import hsvit_keras

    try:
        return hsvit_keras.create_model(**configuration)
    except TypeError as error:
        raise InputError(f"no model can be made of {configuration}: {error}") from error


def convert(model, preset, suffix=".tflite"):
    """The bytes of the artifact of a model. Ranges of int8 are those of random images: they cost the same."""
    from hsvit_keras.backends import require_backend  # it imports Keras, whose messages are not to be seen

    require_backend("tensorflow")
    from hsvit_keras.artifacts import lowering

    if preset == "int8":
        from hsvit_keras import calibrate

        model = calibrate(model, [_random_images(model)])
    lowered = lowering.lower(model, batch_size=1)
    if suffix == ".onnx":
        from hsvit_keras.artifacts import onnx_conversion

        return onnx_conversion.convert(lowered, preset=preset)
    from hsvit_keras.artifacts import tflite_conversion

    return tflite_conversion.convert(lowered, preset)


def _random_images(model):
    import numpy as np

    from hsvit_keras.layers.model_description import description_of

    low, high = description_of(model).input_range or (-1, 1)
    return np.random.default_rng(0).uniform(low, high, (4, *model.input_shape[1:])).astype("float32")


def _check_settings(name, settings):
    measure = {**_OF_ARTIFACT, **_OF_MODEL}[name]
    parameters = dict(list(inspect.signature(measure).parameters.items())[1:])
    for setting, value in settings.items():
        if setting not in parameters:
            raise InputError(
                f"the cost {name} has no setting {setting!r}; it has {', '.join(parameters) or 'none'}"
            )
        if value is not None or parameters[setting].default not in (None, inspect.Parameter.empty):
            _SETTINGS[setting].check(value, f"the setting {setting} of {name}")
    for setting, parameter in parameters.items():
        if parameter.default is parameter.empty and settings.get(setting) is None:
            raise InputError(f"the cost {name} needs a {setting}")


# ---- the command -----------------------------------------------------------------------------------
def define_flags():
    bounded.names("costs", ["multiply_adds", "parameters"], f"Any of {', '.join(UNITS)}.", list(UNITS))
    bounded.image_shape(
        "input_shape", None, "Height, width, channels of a registered model; its own by default."
    )
    bounded.integer(
        "num_classes", None, "Classes of a registered model; its own by default.", 1, bounded.MANY
    )
    flags.DEFINE_bool("breakdown", False, "Also what each kind of operation costs.")
    _define_files()
    define_settings()


def define_settings():
    """The flags of the settings of costs."""
    flags.DEFINE_enum("preset", "float32", PRESETS, "How artifacts store and compute.")
    flags.DEFINE_string("core", "cortex-a76", "Core of arm_instructions.")
    bounded.number("memory_gib", None, "Memory of throughput; all by default.", 1e-3, 1e6)
    flags.DEFINE_string("phone_report", None, "JSON of the Android app, for phone_report.")
    flags.DEFINE_string("browser_report", None, "JSON of the web page, for browser_report.")
    flags.DEFINE_enum("accelerator", None, ACCELERATORS, "Which latency of a report counts.")
    flags.DEFINE_string("phone_command", None, "Command with {artifact} that prints ms, for phone_command.")


def define_settings_of_factors():
    """The flags of commands that make models of factors and count what they cost."""
    bounded.integer("channels", 3, "Channels of an image.", 1, 16_384)
    bounded.integer("num_classes", 1000, "Classes.", 1, bounded.MANY)
    _define_files()
    define_settings()


def _define_files():
    flags.DEFINE_string("cache", None, "Folder where artifacts and numbers are kept and found again.")
    flags.DEFINE_string("output", None, "JSON file to write.")


def of_flags(name, folder=None):
    """The `Cost` of a name with the settings of the command line."""
    settings = {
        "arm_instructions": {"core": FLAGS.core},
        "throughput": {"memory_gib": FLAGS.memory_gib},
        "phone_report": {"report": FLAGS.phone_report, "accelerator": FLAGS.accelerator},
        "browser_report": {"report": FLAGS.browser_report, "accelerator": FLAGS.accelerator},
        "phone_command": {"command": FLAGS.phone_command},
    }
    if folder:
        pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    return Cost(name, folder, preset=FLAGS.preset, **settings.get(name, {}))


def main(arguments):
    from training.scaling import breakdown

    outputs.check(FLAGS.output, outputs.json_with("model", "costs"), reads=arguments)
    model, rows = _model(arguments[0]), []
    for name in FLAGS.costs:
        cost = of_flags(name, FLAGS.cache)
        row = {"cost": name, "value": cost(model), "unit": cost.unit}
        if FLAGS.breakdown:
            row["breakdown"] = breakdown.break_down(cost, model)
            print(f"{name}\n{breakdown.table(row['breakdown'], cost.unit)}\n")
        rows.append(row)
    print(
        tables.table(("cost", "value", "unit"), [(r["cost"], cost_text(r["value"]), r["unit"]) for r in rows])
    )
    report = {"model": arguments[0], "costs": rows}
    if FLAGS.breakdown and len(rows) > 1:
        report["distances"] = breakdown.distances({row["cost"]: row["breakdown"] for row in rows})
        print(f"\ncosine distances of the breakdowns\n{breakdown.distances_table(report['distances'])}")
    if FLAGS.output:
        files.write_json(FLAGS.output, report)
        print(f"wrote {FLAGS.output}")


def _model(text):
    if text.endswith(".keras"):
        from hsvit_keras.model_files import load_model

        return load_model(text)
    return {"name": text, "input_shape": FLAGS.input_shape, "num_classes": FLAGS.num_classes}


if __name__ == "__main__":
    define_flags()
    commands.run(main, argument="name of a model or .keras file")
