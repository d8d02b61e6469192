"""A phone that is reached through adb, Android's debug bridge.

Every failure of adb becomes a `PhoneError` of one line that says what to do. adb joins the words of a
shell command with spaces and passes them to a shell on the phone, so they are quoted here.
"""

import contextlib
import dataclasses
import os
import queue
import shlex
import subprocess
import threading

from hsvit_runtime.errors import InputError

_TIMEOUT = 60  # seconds, for commands that copy no files
_COPY_TIMEOUT = 1800

_WAYS_OUT = {
    "unauthorized": "allow USB debugging in the dialog that the phone shows",
    "authorizing": "allow USB debugging in the dialog that the phone shows",
    "offline": "unplug it and plug it in again, or run: adb reconnect offline",
    "no permissions": "udev does not know it, on Debian: apt-get install android-sdk-platform-tools-common",
}


class PhoneError(InputError, OSError):
    """adb or the phone failed; the message says what to do about it."""


@dataclasses.dataclass(frozen=True)
class Device:
    """A phone that is ready for commands.

    Attributes:
        adb: str, the program.
        serial: str, the phone's, as adb lists it.
        name: str, its model and serial, for messages.
    """

    adb: str
    serial: str
    name: str

    def shell(self, *words):
        """Runs one command on the phone.

        Args:
            *words: str, its words, of any characters.

        Returns:
            str, its standard output and standard error.

        Raises:
            PhoneError: it failed or did not end in time.
        """
        return self._checked(shlex.join(words), "shell", shlex.join(words))

    def runs(self, package):
        """Whether a process of the app `package` is alive."""
        return self._succeeds("pidof", package)

    def has(self, package):
        """Whether the app `package` is installed."""
        return self._succeeds("pm", "path", package)

    def push(self, folder, target):
        """Copies a folder to the phone, replacing what is there.

        Args:
            folder: path.
            target: str, its path there.
        """
        self.shell("rm", "-rf", target)  # into a folder that exists, adb would push it as a child
        self._checked(f"copying {folder} to the phone", "push", str(folder), target, timeout=_COPY_TIMEOUT)

    def pull(self, source, path):
        """Copies the phone's file `source` to `path`."""
        try:
            self._checked(f"fetching {source}", "pull", source, str(path), timeout=_COPY_TIMEOUT)
        except PhoneError as error:
            if "No such file" in str(error) or "does not exist" in str(error):
                raise PhoneError(f"there is no file {source} on {self.name}") from error
            raise

    def install(self, apk):
        """Installs the file `apk`, or updates what is installed."""
        self._checked(f"installing {apk}", "install", "-r", str(apk), timeout=_COPY_TIMEOUT)

    def log(self, tag, pause):
        """Follows the phone's log from its beginning.

        Args:
            tag: str; only lines with this tag and of level INFO or above are returned.
            pause: float, seconds.

        Yields:
            str, a message, or None after each `pause` without one.

        Raises:
            PhoneError: the phone is gone.
        """
        while True:  # logcat may end for no reason
            with self._logcat(tag) as lines:
                while (line := _next(lines, pause)) is not _END:
                    if line is None:  # adb may be waiting for a phone that is gone
                        self._require_connected()
                    yield line
            self._require_connected()
            yield None

    def _require_connected(self):
        if self._run("get-state").stdout.strip() != "device":
            raise PhoneError(f"{self.name} is no longer connected")

    @contextlib.contextmanager
    def _logcat(self, tag):
        """A queue of log lines, with `_END` after the last."""
        command = [self.adb, "-s", self.serial, "logcat", "-v", "raw", "-s", f"{tag}:I"]
        lines = queue.SimpleQueue()

        def read():
            for line in process.stdout:
                lines.put(line.rstrip("\r\n"))
            lines.put(_END)

        process = subprocess.Popen(command, **_TEXT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        reader = threading.Thread(target=read, daemon=True)
        try:
            reader.start()
            yield lines
        finally:  # in this order: a pipe that is being read cannot be closed
            process.kill()
            process.wait()
            reader.join()
            process.stdout.close()

    def _succeeds(self, *words):
        done = self._run("shell", shlex.join(words))
        if done.stderr.startswith("error: "):  # from adb itself: the phone does not respond
            raise PhoneError(f"{self.name} does not respond: {_complaint(done.stderr)}")
        return done.returncode == 0

    def _run(self, *arguments, timeout=_TIMEOUT):
        return _run(self.adb, "-s", self.serial, *arguments, timeout=timeout)

    def _checked(self, doing, *arguments, timeout=_TIMEOUT):
        done = self._run(*arguments, timeout=timeout)
        printed = done.stdout + done.stderr
        if done.returncode:
            raise PhoneError(f"{doing} failed on {self.name}: {_complaint(printed)}")
        return printed


_END = object()
_TEXT = {"stdin": subprocess.DEVNULL, "text": True, "encoding": "utf-8", "errors": "replace"}


def connect(adb="adb", serial=None):
    """The phone that adb reaches.

    Args:
        adb: str, the program.
        serial: str, which phone, where there are several; the environment's ANDROID_SERIAL by default.

    Returns:
        `Device`.

    Raises:
        PhoneError: there is no adb, no phone, more than one, or it is not ready.
    """
    serial = serial or os.environ.get("ANDROID_SERIAL")
    found = _devices(adb)
    listed = ", ".join(f"{name} ({state})" for name, state, _ in found.values())
    if not found:
        raise PhoneError("adb sees no phone: plug one in and turn on USB debugging in its developer options")
    if serial is None and len(found) > 1:
        raise PhoneError(f"adb sees {len(found)} phones, choose one by --serial: {listed}")
    if serial is not None and serial not in found:
        raise PhoneError(f"adb sees no phone with serial={serial!r}, but {listed}")
    name, state, serial = found[serial or next(iter(found))]
    if state != "device":
        way_out = _WAYS_OUT.get(state, "adb needs it as 'device'")
        raise PhoneError(f"{name} is not ready, adb calls it '{state}': {way_out}")
    return Device(adb, serial, name)


def _devices(adb):
    """(name, state, serial) of each phone by its serial."""
    done = _run(adb, "devices", "-l")
    if done.returncode:
        raise PhoneError(f"adb cannot list phones: {_complaint(done.stdout + done.stderr)}")
    _, _, listing = done.stdout.partition("List of devices attached\n")
    found = {}
    for line in listing.splitlines():
        serial, _, rest = line.partition(" ")
        words = rest.split()
        if words and not serial.startswith("*"):  # older ones tell of their daemon there
            model = next((word.removeprefix("model:") for word in words if word.startswith("model:")), None)
            state = "no permissions" if words[:2] == ["no", "permissions"] else words[0]
            found[serial] = (f"{model} ({serial})" if model else serial, state, serial)
    return found


def _run(adb, *arguments, timeout=_TIMEOUT):
    try:
        return subprocess.run([adb, *arguments], **_TEXT, stdout=-1, stderr=-1, timeout=timeout)
    except FileNotFoundError as error:
        raise PhoneError(
            f"there is no program {adb}: install it, on Debian by apt-get install adb, or name it by --adb"
        ) from error
    except PermissionError as error:
        raise PhoneError(f"{adb} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise PhoneError(f"adb {arguments[-1]} did not end in {timeout} s") from error


def _complaint(printed):
    """The error message of adb or the phone, as one line."""
    lines = [line.strip() for line in printed.splitlines() if line.strip() and not line.startswith("* ")]
    errors = [line for line in lines if "error" in line.lower() or "fail" in line.lower()]
    return " ".join(errors or lines[-3:]) or "without a message"


def _next(lines, pause):
    try:
        return lines.get(timeout=pause)
    except queue.Empty:
        return None
