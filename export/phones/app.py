"""The benchmark app on a phone: its folders, how it is started, what it logs.

An intent starts a run. The app writes its progress to the phone's log, and a report into its own folder,
which follows `benchmark.schema.json`. Each log line carries the run's id.
"""

import dataclasses
import json
import pathlib
import secrets
import time

from export.phones.adb import PhoneError
from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.json_schemas import record
from measuring import benchmark_report

PACKAGE = "org.hsvit.benchmark"
BUNDLES = f"/sdcard/Android/data/{PACKAGE}/files/bundles"
REPORTS = f"/sdcard/Android/data/{PACKAGE}/files/reports"
BUNDLE_VERSION = 2  # of bundles that the app reads

_ACTIVITY = f"{PACKAGE}/.app.MainActivity"
_TAG = "HsvitBenchmark"
_PROGRESS, _RESULT = "HSVIT_PROGRESS ", "HSVIT_RESULT "
_PAUSE = 2.0  # seconds without a log line, after which we check that the app still runs


@dataclasses.dataclass(frozen=True)
class Result:
    """How a run ended.

    Attributes:
        run_id: str.
        status: str, "done", "cancelled" or "failed".
        report: str, path on the phone of the report of all finished pairs, or None.
        message: str, why it is not "done".
    """

    run_id: str
    status: str
    report: str | None
    message: str


def require(device, apk=None):
    """Installs `apk` if there is one; raises `PhoneError` unless the app is installed."""
    if apk is not None:
        if not pathlib.Path(apk).is_file():
            raise MissingFileError(f"there is no file apk={str(apk)!r}; `make apk` builds the app")
        device.install(apk)
    if not device.has(PACKAGE):
        raise PhoneError(
            f"the app {PACKAGE} is not installed on {device.name}: build it by `make apk` and name it, "
            "--apk=android_demo/target/hsvit-benchmark.apk"
        )


def push_bundle(device, folder):
    """Copies a bundle to the app.

    Args:
        device: `Device`.
        folder: path of a folder with a bundle.json.

    Returns:
        str, the name of the bundle in the app.

    Raises:
        InputError: it is no bundle, one of another version, or cannot be copied.
    """
    folder = pathlib.Path(folder).resolve()
    if not (folder / "bundle.json").is_file():
        raise MissingFileError(f"bundle={str(folder)!r} is no folder with a bundle.json")
    _check_version(folder)
    device.push(folder, f"{BUNDLES}/{folder.name}")
    return folder.name


def _check_version(folder):
    version = json_files.read(folder / "bundle.json", record(), "bundle of export.bundle").get(
        "bundle_version"
    )
    if version != BUNDLE_VERSION:
        raise InputError(
            f"bundle={str(folder)!r} has bundle_version {version}, the app reads {BUNDLE_VERSION}: "
            "make it again with export.bundle"
        )


def new_run_id():
    """A unique name for a run; later runs sort behind earlier ones."""
    return f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}"


def start(device, run_id, *, pairs, bundle=None, settings=None):
    """Starts a run; `follow` waits for its end.

    Args:
        device: `Device`, unlocked.
        run_id: str.
        pairs: str, names of pairs separated by commas, or "all".
        bundle: str, a bundle's name; None for the app's own.
        settings: dict from `threads`, `blocks`, `runs`, `block_ms`, `warmup_ms`, `cooldown_ms`, `limit_s` to
            int and from `accelerator` to "cpu" or "npu"; the app has defaults for those that are left out or
            None.

    Raises:
        PhoneError: the phone does not start it.
    """
    device.shell("input", "keyevent", "KEYCODE_WAKEUP")  # it measures while its screen is on
    extras = {"pairs": pairs, "bundle": bundle, "run_id": run_id, **(settings or {})}
    words = ["am", "start", "-W", "-n", _ACTIVITY, "--ez", "autorun", "true"]
    for name, value in extras.items():
        option = "--es" if isinstance(value, str) else "--ei"
        words += [] if value is None else [option, name, str(value)]
    printed = device.shell(*words)
    if "Error" in printed:  # am ends with status 0 all the same
        complaint = " ".join(line for line in printed.splitlines() if "Error" in line)
        raise PhoneError(f"{device.name} does not start the app: {complaint}")


def follow(device, run_id, *, timeout, progress=lambda done, total: None):
    """Waits for the end of a run.

    Args:
        device: `Device`.
        run_id: str.
        timeout: float, seconds that the run may log nothing.
        progress: function of done and total, int, of the run's steps.

    Returns:
        `Result`.

    Raises:
        PhoneError: the phone or the app is gone, or nothing was logged for too long.
    """
    reached = "before its first step"
    last_progress = time.monotonic()
    try:
        for message in device.log(_TAG, _PAUSE):
            if (entry := _entry(message, _RESULT, run_id)) is not None:
                return Result(run_id, entry.get("status"), entry.get("report"), entry.get("message") or "")
            if (entry := _entry(message, _PROGRESS, run_id)) is not None:
                last_progress = time.monotonic()
                reached = f"at step {entry['done']} of {entry['total']}"
                progress(entry["done"], entry["total"])
            elif message is None and not device.runs(PACKAGE):
                raise PhoneError("the app ended without a result, `adb logcat -b crash -d` may show why")
            if time.monotonic() - last_progress > timeout:
                raise PhoneError(
                    f"the app logged nothing for {timeout:g} s: is the phone unlocked, with the app in front?"
                )
    except PhoneError as error:
        raise PhoneError(f"run {run_id} was lost {reached}: {error}") from error


def _entry(message, kind, run_id):
    """The content of a log line, None if it is not of this kind and run."""
    if message is None or not message.startswith(kind):
        return None
    try:
        entry = json.loads(message.removeprefix(kind))
    except ValueError:  # cut short where the log was full
        return None
    return entry if isinstance(entry, dict) and entry.get("run_id") == run_id else None


def latest_report(device):
    """Path on the phone of the newest report; raises `PhoneError` where there is none."""
    try:
        listed = device.shell("ls", "-t", REPORTS)
    except PhoneError as error:
        if "No such file" not in str(error):
            raise
        listed = ""
    names = [name for name in listed.splitlines() if name.endswith(".json")]
    if not names:
        raise PhoneError(f"there is no report on {device.name} yet: {REPORTS} is empty")
    return f"{REPORTS}/{names[0]}"


def fetch_report(device, source, path):
    """Copies a report from the phone.

    Args:
        device: `Device`.
        source: str, its path there.
        path: where to write it.

    Returns:
        dict, the report.

    Raises:
        PhoneError: it cannot be fetched.
        InputError: it does not follow the schema.
    """
    device.pull(source, path)
    try:
        return benchmark_report.read(path)
    except InputError as error:
        raise InputError(f"{source} on {device.name} is no benchmark report: {error}") from error
