"""A phone that is reached through adb, Android's debug bridge.

Every failure of adb becomes a `PhoneError` of one line that says what to do. adb joins the words of a
shell command with spaces and passes them to a shell on the phone, so they are quoted here.
"""

import contextlib
import dataclasses
import os
import queue
import re
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


# A line of `adb devices -l`. Serials of phones on the network have spaces and brackets, so the state, one of
# adb's words (ConnectionState in its sources), tells where they end.
_LISTED = re.compile(
    r"^(?!\* )(?P<serial>\S.*?)[ \t]+(?P<state>device|offline|unauthorized|authorizing|connecting"
    r"|no permissions|bootloader|recovery|rescue|sideload|host|detached|unknown)(?P<facts>(?:[ \t;].*)?)$",
    re.MULTILINE,
)
_MODEL = re.compile(r"\smodel:(\S+)")


class PhoneError(InputError, OSError):
    """adb or the phone failed; the message says what to do about it."""


class NoAnswerError(PhoneError):
    """A command did not end in time; the next one may."""


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

    def tries(self, *words, stdin=None, timeout=None):
        """Runs one command on the phone that may fail there.

        Args:
            *words: str, as for `shell`.
            stdin: file for its standard input, or None.
            timeout: float, seconds; None for what is usual.

        Returns:
            `subprocess.CompletedProcess`, with both outputs as str.

        Raises:
            PhoneError: the phone cannot be reached, or the command did not end in time.
        """
        done = self._run("shell", shlex.join(words), stdin=stdin, timeout=timeout)
        if done.returncode and done.stderr.startswith("error: "):  # from adb itself
            raise PhoneError(f"{self.name} does not respond: {_complaint(done.stderr)}")
        return done

    def runs(self, package):
        """Whether a process of the app `package` is alive."""
        return self.tries("pidof", package).returncode == 0

    def has(self, package, user=0):
        """Whether the app `package` is installed for the user with this number."""
        of_user = ["--user", str(user)] if user else []
        return self.tries("pm", "path", *of_user, package).returncode == 0

    def user(self):
        """int, the number of the phone's user who is in front; 0 is its owner, and where it does not say."""
        told = self.tries("am", "get-current-user").stdout.strip()
        return int(told) if told.isdecimal() else 0

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

        null = subprocess.DEVNULL
        process = subprocess.Popen(command, **_TEXT, stdin=null, stdout=subprocess.PIPE, stderr=null)
        reader = threading.Thread(target=read, daemon=True)
        try:
            reader.start()
            yield lines
        finally:  # in this order: a pipe that is being read cannot be closed
            process.kill()
            process.wait()
            reader.join()
            process.stdout.close()

    def _run(self, *arguments, stdin=None, timeout=None):
        return _run(self.adb, "-s", self.serial, *arguments, stdin=stdin, timeout=timeout)

    def _checked(self, doing, *arguments, timeout=None):
        done = self._run(*arguments, timeout=timeout)
        printed = done.stdout + done.stderr
        if done.returncode:
            raise PhoneError(f"{doing} failed on {self.name}: {_complaint(printed)}")
        return printed


_END = object()
_TEXT = {"text": True, "encoding": "utf-8", "errors": "replace"}


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
    _, _, listing = done.stdout.partition("List of devices attached\n")  # older ones tell of their daemon
    found = {}
    for line in _LISTED.finditer(listing):
        serial, model = line["serial"], _MODEL.search(line["facts"])
        found[serial] = (f"{model[1]} ({serial})" if model else serial, line["state"], serial)
    return found


def _run(adb, *arguments, stdin=None, timeout=None):
    stdin, timeout = stdin or subprocess.DEVNULL, timeout or _TIMEOUT
    try:
        return subprocess.run([adb, *arguments], **_TEXT, stdin=stdin, stdout=-1, stderr=-1, timeout=timeout)
    except FileNotFoundError as error:
        raise PhoneError(
            f"there is no program {adb}: install it, on Debian by apt-get install adb, or name it by --adb"
        ) from error
    except PermissionError as error:
        raise PhoneError(f"{adb} cannot be run: {error.strerror}") from error
    except subprocess.TimeoutExpired as error:
        raise NoAnswerError(f"adb {arguments[-1]} did not end in {timeout} s") from error


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
