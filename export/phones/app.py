"""The benchmark app on a phone: how it is started, what it tells of a run, its reports.

An intent starts a run. The app writes its progress to the phone's log and, for phones whose log shows
nothing, to the file `runs/ID.json`; and a report, `reports/ID.json`, which follows `benchmark.schema.json`.
All that it tells of a run carries the run's id.
"""

import dataclasses
import pathlib
import secrets
import time

from export.bundles import reading
from export.phones.adb import NoAnswerError, PhoneError
from export.phones.storage import PACKAGE, Storage
from hsvit_runtime import json_files
from hsvit_runtime.errors import InputError, MissingFileError
from hsvit_runtime.json_schemas import TEXT, count, or_null, partial
from measuring import benchmark_report

_ACTIVITY = f"{PACKAGE}/.app.MainActivity"
_TAG = "HsvitBenchmark"
_PROGRESS, _RESULT = "HSVIT_PROGRESS ", "HSVIT_RESULT "
_STEPS = count(0, 10**9)
# What the app tells of a run, in its log and in a file.
_ENTRY = {
    **partial(
        run_id=TEXT, status=TEXT, report=or_null(TEXT), message=or_null(TEXT), done=_STEPS, total=_STEPS
    ),
    "required": ["run_id"],
    "anyOf": [{"required": ["status"]}, {"required": ["done", "total"]}],
}
_PAUSE = 5.0  # seconds without a log line, after which we ask; asking costs the phone some time


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
    """Installs the app if there is an `apk`, and finds its files.

    Args:
        device: `adb.Device`.
        apk: path of the app's file, or None.

    Returns:
        `Storage`, of the phone's user who is in front.

    Raises:
        PhoneError: the app is not installed, or cannot be.
    """
    if apk is not None:
        if not pathlib.Path(apk).is_file():
            raise MissingFileError(f"there is no file apk={str(apk)!r}; `make apk` builds the app")
        device.install(apk)
    user = device.user()
    if not device.has(PACKAGE, user):
        whose = f" for its user {user}" if user else ""
        raise PhoneError(
            f"the app {PACKAGE} is not installed on {device.name}{whose}: build it by `make apk` and name "
            "it, --apk=android_demo/target/hsvit-benchmark.apk"
        )
    return Storage(device, user)


def wake(device):
    """Turns the screen on, as a run needs it; returns whether the phone let us: some refuse adb's keys."""
    try:
        return device.tries("input", "keyevent", "KEYCODE_WAKEUP").returncode == 0
    except NoAnswerError:
        return False


def push_bundle(storage, folder):
    """Copies a bundle to the app.

    The app is opened first: it makes its folders then. Those that adb makes belong to adb, and some phones
    let the app not write there.

    Args:
        storage: `Storage`.
        folder: path of a folder with a bundle.json.

    Returns:
        str, the name of the bundle in the app.

    Raises:
        InputError: it is no bundle, one of another version, or cannot be copied.
    """
    folder = pathlib.Path(folder).resolve()
    if not (folder / "bundle.json").is_file():
        raise MissingFileError(f"bundle={str(folder)!r} is no folder with a bundle.json")
    path = folder / "bundle.json"
    reading.check_version(json_files.read(path), path)
    _open(storage.device)
    return storage.send_bundle(folder)


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
        settings: dict from `threads`, `blocks`, `runs`, `block_ms`, `warmup_ms`, `cooldown_ms`, `limit_s`,
            `cool_s`, `sustained_s` to int, from `xnnpack`, `fp16`, `thread_sweep` to bool, from
            `accelerator` to "cpu", "gpu", "npu" separated by commas, and from `cores` to numbers such as
            "4-7"; the app has defaults for those that are left out or None.

    Raises:
        PhoneError: the phone does not start it.
    """
    extras = {"pairs": pairs, "bundle": bundle, "run_id": run_id, **(settings or {})}
    words = ["--ez", "autorun", "true"]
    for name, value in extras.items():
        option = {str: "--es", bool: "--ez"}.get(type(value), "--ei")
        text = str(value).lower() if isinstance(value, bool) else str(value)
        words += [] if value is None else [option, name, text]
    _open(device, *words)


def _open(device, *extras):
    printed = device.shell("am", "start", "-W", "-n", _ACTIVITY, *extras)
    if "Error" in printed:  # am ends with status 0 all the same
        complaint = " ".join(line for line in printed.splitlines() if "Error" in line)
        raise PhoneError(f"{device.name} does not start the app: {complaint}")


def follow(storage, run_id, *, timeout, progress=lambda done, total: None):
    """Waits for the end of a run.

    Args:
        storage: `Storage`.
        run_id: str.
        timeout: float, seconds that the run may tell nothing new.
        progress: function of done and total, int, of the run's steps.

    Returns:
        `Result`.

    Raises:
        PhoneError: the phone or the app is gone, or nothing was told for too long.
    """
    reached, done = "before its first step", -1
    last_progress = time.monotonic()
    try:
        for entry in _told(storage, run_id):
            if "status" in entry:
                return Result(run_id, entry["status"], entry.get("report"), entry.get("message") or "")
            if entry.get("done", -1) > done:
                last_progress, done = time.monotonic(), entry["done"]
                reached = f"at step {done} of {entry['total']}"
                progress(done, entry["total"])
            if time.monotonic() - last_progress > timeout:
                raise PhoneError(
                    f"the app logged nothing for {timeout:g} s: is the phone unlocked, with the app in front?"
                )
    except PhoneError as error:
        raise PhoneError(f"run {run_id} was lost {reached}: {error}") from error


def _told(storage, run_id):
    """Yields dicts, what the app tells of a run: from the log or, while that is silent, from its file."""
    for message in storage.device.log(_TAG, _PAUSE):
        if message is None:
            yield from _ask(storage, run_id)
        else:
            yield _entry(message.removeprefix(_RESULT).removeprefix(_PROGRESS), run_id)


def _ask(storage, run_id):
    try:
        runs = storage.device.runs(PACKAGE)  # before the file is read: the app may write it and end
        entry = _entry(storage.read(f"runs/{run_id}.json") or "", run_id)
    except NoAnswerError:  # a phone at its limits
        return
    yield entry
    if not runs:
        raise PhoneError("the app ended without a result, `adb logcat -b crash -d` may show why")


def _entry(text, run_id):
    """dict of what the app tells; empty if it tells of another run or is cut short."""
    try:
        entry = json_files.parse(text.encode(errors="replace"), "the log")
        json_files.check(entry, _ENTRY, "the log")
    except InputError:
        return {}
    return entry if entry["run_id"] == run_id else {}


def latest_report(storage):
    """The id of the run with the newest report; raises `PhoneError` where there is none."""
    names = storage.reports()
    if not names:
        raise PhoneError(f"there is no report on {storage.device.name} yet")
    return names[0].removesuffix(".json")


def fetch_report(storage, run_id, path):
    """Copies a report from the phone.

    Args:
        storage: `Storage`.
        run_id: str, the run's.
        path: where to write it.

    Returns:
        dict, the report.

    Raises:
        PhoneError: it cannot be fetched.
        InputError: it does not follow the schema.
    """
    storage.fetch(f"reports/{run_id}.json", path)
    try:
        return benchmark_report.read(path)
    except InputError as error:
        name = storage.device.name
        raise InputError(f"the report of run {run_id} on {name} is no benchmark report: {error}") from error
