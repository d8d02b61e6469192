"""How commands start and end."""

import os
import subprocess
import sys

import pytest

from command_line import model_data
from hsvit_keras.backends import require_backend
from hsvit_runtime.description import Description
from hsvit_runtime.errors import InputError
from hsvit_runtime.native_output import quietly


def run(code, *arguments, **environment):
    program = f"from command_line import commands\nfrom hsvit_runtime.errors import *\n{code}"
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("error", ["InputError", "MissingFileError", "MissingPackageError"])
def test_what_the_user_did_wrong_is_one_line(error):
    result = run(f"def main(_): raise {error}('what is wrong')\ncommands.run(main, uses_keras=False)")
    assert result.returncode == 1
    assert result.stderr == "error: what is wrong\n"


def test_an_error_about_a_file_is_one_line(tmp_path):
    path = tmp_path / "none" / "file"
    result = run(f"def main(_): open({str(path)!r})\ncommands.run(main, uses_keras=False)")
    assert result.returncode == 1
    assert result.stderr == f"error: {path}: No such file or directory\n"


def test_traceback_on_demand():
    code = "def main(_): raise InputError('what is wrong')\ncommands.run(main, uses_keras=False)"
    assert "Traceback" in run(code, "--verbosity=1").stderr


@pytest.mark.parametrize(
    "error", ["KeyError('key')", "ValueError('bad')", "OSError('no file')", "ImportError('name')"]
)
def test_a_bug_shows_its_traceback(error):
    result = run(f"def main(_): raise {error}\ncommands.run(main, uses_keras=False)")
    assert result.returncode == 1
    assert "Traceback" in result.stderr and error.partition("(")[0] in result.stderr


def test_unexpected_argument():
    result = run("commands.run(print, uses_keras=False)", "model.keras")
    assert result.returncode == 1
    assert "unexpected argument 'model.keras'" in result.stderr


@pytest.mark.parametrize("arguments", [[], ["a", "b"]])
def test_wrong_number_of_arguments(arguments):
    result = run("commands.run(print, uses_keras=False, argument='file')", *arguments)
    assert result.returncode == 1
    assert f"needs one file; options are written --name=value; received {arguments}" in result.stderr


def test_options_may_stand_behind_the_argument():
    result = run("commands.run(print, uses_keras=False, argument='file')", "a", "--verbosity=0")
    assert (result.returncode, result.stdout) == (0, "['a']\n")


def test_unknown_option():
    result = run("commands.run(print, uses_keras=False)", "--nonsense=1")
    assert result.returncode != 0
    assert "Unknown command line flag 'nonsense'" in result.stderr


def test_missing_option_is_one_line():
    code = """
from absl import flags
flags.DEFINE_string("model", None, "A model.", required=True)
commands.run(print, uses_keras=False)
"""
    result = run(code)
    assert result.returncode == 1
    assert result.stderr == "error: --model is needed; --help lists the options\n"


def test_wrong_value_is_one_line():
    code = """
from absl import flags
flags.DEFINE_integer("batch", 1, "Images.", lower_bound=1)
commands.run(print, uses_keras=False)
"""
    result = run(code, "--batch=0")
    assert result.returncode == 1
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert "--batch=0" in result.stderr


@pytest.mark.parametrize("locale", ["C", "POSIX"])
def test_a_locale_of_ascii_shows_other_names_in_escapes(locale, tmp_path):
    environment = {"LC_ALL": locale, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    code = """
def main(_):
    print(chr(233))
    raise InputError(chr(0x1F600) + chr(0xDCFF))
commands.run(main, uses_keras=False)
"""
    result = run(code, **environment)
    assert (result.returncode, result.stdout) == (1, "\\xe9\n")
    assert result.stderr == "error: \\U0001f600\\udcff\n"


def test_a_file_whose_name_is_not_utf_8(tmp_path):
    name = os.fsdecode(os.fsencode(tmp_path) + b"/\xff.json")
    code = f"def main(_):\n    print({name!r})\n    open({name!r})\ncommands.run(main, uses_keras=False)"
    result = run(code)
    assert result.returncode == 1
    assert result.stdout.endswith("\\udcff.json\n")
    assert result.stderr == f"error: {tmp_path}/\\udcff.json: No such file or directory\n"


def test_help():
    result = run("commands.run(print, uses_keras=False)", "--help")
    assert result.stdout.strip()
    assert "error" not in result.stderr


@pytest.mark.slow
def test_keras_starts_without_a_word(tmp_path):
    code = """
def main(_):
    import keras, sys
    from keras.src.saving import serialization_lib
    print(keras.backend.backend(), "tabnanny" in sys.modules, serialization_lib.in_safe_mode())
    print(keras.config.image_data_format(), keras.config.floatx())
commands.run(main)
"""
    (tmp_path / "keras.json").write_text('{"image_data_format": "channels_first", "floatx": "float16"}')
    result = run(code, "--import=tabnanny", "--unsafe", KERAS_HOME=str(tmp_path))
    assert (result.returncode, result.stderr) == (0, "")
    backend = os.environ.get("KERAS_BACKEND", "tensorflow")
    assert result.stdout.split() == [backend, "True", "False", "channels_last", "float32"]


def test_a_module_that_is_not_there():
    result = run("commands.run(print)", "--import=nowhere.models", KERAS_BACKEND="jax")
    assert result.returncode == 1
    assert result.stderr == "error: --import names 'nowhere.models', but there is no such module here\n"


def test_a_backend_that_is_not_there():
    result = run("commands.run(print)", KERAS_BACKEND="nonsense")
    assert result.returncode == 1
    assert "error: Keras cannot start on KERAS_BACKEND=nonsense" in result.stderr
    assert result.stderr.rstrip().endswith("set the environment variable KERAS_BACKEND=tensorflow")


@pytest.mark.parametrize(("name", "status"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_stopped_command_cleans_up(tmp_path, name, status):
    code = f"""
import os, signal, time
from hsvit_runtime import files
def main(_):
    with files.replacing({str(tmp_path / "a.txt")!r}):
        os.kill(os.getpid(), signal.{name})
        time.sleep(5)
commands.run(main, uses_keras=False)
"""
    result = run(code)
    assert result.returncode == status
    assert "Traceback" not in result.stderr
    assert os.listdir(tmp_path) == []


def test_require_backend():
    import keras

    here = keras.backend.backend()
    require_backend("torch", here)
    with pytest.raises(
        ValueError, match=f"needs Keras on torch, and Keras runs on {here}: .*KERAS_BACKEND=torch"
    ):
        require_backend("torch")


PIXELS = Description(data_set="digits", input_range=(0, 255))


def test_the_data_set_is_the_models_own_or_has_to_be_named():
    assert model_data.data_set_of(PIXELS) == "digits"
    for description in (PIXELS, Description()):
        assert model_data.data_set_of(description, "cifar10") == "cifar10"
    with pytest.raises(
        InputError, match="the model does not say its data set: name it by --data, one of digits"
    ):
        model_data.data_set_of(Description())


def test_the_input_range_is_the_models_own_or_has_to_be_given():
    assert model_data.input_range_of(PIXELS) == model_data.input_range_of(PIXELS, ["0", "255"]) == (0, 255)
    assert model_data.input_range_of(Description(), ["-1", "1"]) == (-1, 1)
    with pytest.raises(InputError, match="give those of black and white by --input_range, such as 0,255"):
        model_data.input_range_of(Description())
    with pytest.raises(
        InputError, match="--input_range=0,1 contradicts the model, whose pixels are from 0,255"
    ):
        model_data.input_range_of(PIXELS, ["0", "1"])


@pytest.mark.parametrize(
    "given", [["1"], ["1", "1"], ["0", "1", "2"], ["low", "high"], ["0", "nan"], ["0", "inf"]]
)
def test_what_is_no_input_range_is_named(given):
    with pytest.raises(InputError, match=f"--input_range takes .*; received {','.join(given)}"):
        model_data.input_range_of(Description(), given)


def test_quietly_hides_success_and_shows_failure(capfd):
    with quietly():
        os.write(2, b"chatter")
    assert capfd.readouterr().err == ""
    with pytest.raises(KeyError), quietly():
        os.write(2, b"what happened")
        raise KeyError
    assert capfd.readouterr().err == "what happened"


def test_ctrl_c_within_the_garbage_collector_is_not_lost():
    """Python prints, and drops, an exception in a callback of its garbage collector; JAX has such one."""
    code = """
import gc, os, signal, time
sent = []
def callback(phase, info):
    if not sent:
        sent.append(os.kill(os.getpid(), signal.SIGINT))
    for _ in range(1000): pass  # the handler runs here
def main(_):
    gc.callbacks.append(callback)
    gc.collect()
    time.sleep(10)
    print("went on")
commands.run(main, uses_keras=False)
"""
    result = run(code)
    assert result.returncode == 130
    assert result.stderr == "interrupted; nothing half-written was left\n" and result.stdout == ""


def test_ctrl_c_while_modules_are_imported():
    stop = "import os, signal\ndef stop(): os.kill(os.getpid(), signal.SIGINT)\n"
    result = run(stop + "commands.run(print, uses_keras=False, first=stop)")
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr == "interrupted; nothing was written\n"


def test_a_command_listens_to_ctrl_c_from_its_first_import_on():
    code = (
        "import os, signal, sys, types\n"
        "sys.modules['__main__'].__spec__ = types.SimpleNamespace(name='training.train')\n"
        "import command_line\nos.kill(os.getpid(), signal.SIGINT)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (130, "interrupted; nothing was written\n")


@pytest.mark.parametrize(
    "output, status, said",
    [
        (">&-", 0, ""),
        ("> /dev/full", 1, "error: cannot write standard output: No space left on device\n"),
        ("| true", 141, ""),
    ],
)
def test_output_that_nobody_takes(output, status, said, tmp_path):
    code = "from command_line import commands\ndef main(_):\n  for _ in range(100): print('x' * {count})\n"
    code += "commands.run(main, uses_keras=False)"
    count = 1 if "full" in output else 10_000  # a full buffer is written at once
    command = [
        "bash",
        "-o",
        "pipefail",
        "-c",
        f'"{sys.executable}" -c "$0" {output}',
        code.format(count=count),
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (status, said)


@pytest.mark.parametrize("shapes", [[(8, 4)], [(None, None, 1)], [(8,)], [(8, 8, 1), (8, 8, 1)]])
def test_a_model_of_no_images_is_told_so(shapes):
    import keras

    inputs = [keras.Input(shape) for shape in shapes]
    model = keras.Model(inputs, inputs, name="stranger")
    with pytest.raises(InputError, match=r"^'stranger' has to take images .* of one size.*its inputs are"):
        model_data.check_takes_images(model)
    one = keras.Input((8, 8, 1))
    model_data.check_takes_images(keras.Model(one, one))
