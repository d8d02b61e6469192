"""The benchmark app's files on the phone, read and written through adb.

They lie in the app's folder on the shared storage, where adb's own copying reaches them. Some phones refuse
that: another of the phone's users is in front, whose files adb does not see, or a folder belongs to somebody
else. Then the app passes them on itself: its `HostProvider` gives files to adb's shell alone, which asks for
them by Android's program `content`, and takes bundles as zip archives.
"""

import json
import pathlib
import tempfile
import urllib.parse
import zipfile

from export.phones.adb import PhoneError

PACKAGE = "org.hsvit.benchmark"
PROVIDER = f"content://{PACKAGE}.host"

_COPY_TIMEOUT = 1800  # seconds


class Storage:
    """The app's files.

    Args:
        device: `adb.Device`.
        user: int, the phone's user whose app it is.
    """

    def __init__(self, device, user=0):
        self.device = device
        self.user = user
        shared = f"/storage/emulated/{user}" if user else "/sdcard"  # adb's own user is 0
        self._folder = f"{shared}/Android/data/{PACKAGE}/files"

    def send_bundle(self, folder):
        """Copies a bundle to the app, replacing the one of that name.

        Args:
            folder: path.

        Returns:
            str, the bundle's name in the app.

        Raises:
            PhoneError: the phone has no room, or neither way leads to the app.
        """
        folder = pathlib.Path(folder)
        try:
            self.device.push(folder, f"{self._folder}/bundles/{folder.name}")
            return folder.name
        except PhoneError as refused:
            if "No space left" in str(refused):
                raise
            return self._hand_over(folder, refused)

    def fetch(self, name, path):
        """Copies a file of the app, such as "reports/ID.json", to `path`; raises `PhoneError` if not."""
        try:
            self.device.pull(f"{self._folder}/{name}", path)
        except PhoneError:
            text = self._ask(name)
            if text is None:
                raise
            pathlib.Path(path).write_text(text, encoding="utf-8")

    def read(self, name):
        """The text of a small file of the app, or None if there is none."""
        done = self.device.tries("cat", f"{self._folder}/{name}")
        return self._ask(name) if done.returncode else done.stdout

    def reports(self):
        """Names of the files of all reports, the newest first."""
        done = self.device.tries("ls", "-t", f"{self._folder}/reports")
        names = [name for name in done.stdout.splitlines() if name.endswith(".json")]
        return names if names and not done.returncode else (self._ask("reports") or "").splitlines()

    def _hand_over(self, folder, refused):
        """Sends a bundle as a zip archive, which the app unpacks; returns its name there."""
        name = f"received/{folder.name}"
        with tempfile.TemporaryFile() as archive:
            _pack(folder, archive)
            archive.seek(0)
            sent = self._content("write", name, stdin=archive)
        answer = self._ask(name)
        try:
            told = json.loads(answer or "")
        except ValueError:
            complaint = " ".join((sent.stderr or answer or "").split())
            raise PhoneError(f"{refused}; nor does the app take it: {complaint or 'no answer'}") from refused
        if "bundle" not in told:
            raise PhoneError(f"the app does not take {folder}: {told.get('problem')}") from refused
        return told["bundle"]

    def _ask(self, name):
        """What the app's provider has under a name, or None."""
        done = self._content("read", name)
        # `content` ends with 0 all the same, and says on standard error what went wrong.
        return None if done.returncode or done.stderr.strip() else done.stdout

    def _content(self, verb, name, stdin=None):
        uri = f"{PROVIDER}/{urllib.parse.quote(name)}"
        words = ("content", verb, "--user", str(self.user), "--uri", uri)
        return self.device.tries(*words, stdin=stdin, timeout=_COPY_TIMEOUT if stdin else None)


def _pack(folder, archive):
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_STORED) as packed:  # models hardly shrink
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            packed.write(path, path.relative_to(folder))
