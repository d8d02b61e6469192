"""Stands in for adb and for a phone with the benchmark app.

The folder $FAKE_ADB is the phone: `phone.json` sets how it behaves (see `DEFAULTS`), `storage/` is its
/sdcard, `report.json` is what the app writes; `calls.jsonl` and `started.json` record the calls.

Modelled on:
- adb 29.0.6 of Debian, run without a phone: exit codes, texts and where they go (`push` and `pull` complain
  on standard output, `logcat` waits for ever);
- newer sources (transport.cpp, file_sync_client.cpp, commandline.cpp): phones that are not ready,
  `devices -l`, a pushed folder that becomes a child of one that exists, and the words of `shell`, which are
  joined by spaces and read again by a shell. Here that is a real shell whose only commands are links to the
  program that calls `start`;
- Android's ActivityManagerShellCommand and `pm path`: what they print, and that `am start` ends with 0 where
  there is no such activity;
- its program `content`, which ends with 0 whatever happens, and says on standard error what went wrong;
- storage that belongs to users: adb's shell is a user of its own, and sees the files of user 0 only. A folder
  belongs to whoever made it; `shell_writes` and `app_writes` say who may write into those of the other;
- reports of users: that `logcat` may end for no reason, with "read: unexpected EOF!".
"""

# Hundreds of processes begin here: what takes long to import is imported where it is used.
import json
import os
import pathlib
import sys
import time
import urllib.parse

PHONE = pathlib.Path(os.environ["FAKE_ADB"])
STORAGE = PHONE / "storage"
APP = "org.hsvit.benchmark"
FILES = f"Android/data/{APP}/files"
TOOLS = ("am", "cat", "content", "input", "ls", "pidof", "pm", "rm")

DEFAULTS = {
    "devices": [["PHONE1", "device", "Pixel_8"]],  # serial, state, model
    "daemon": True,  # whether the server runs already
    "installed": True,
    "user": 0,  # who is in front
    "shell_writes": True,  # into folders that the app made
    "app_writes": True,  # into folders that the shell made
    "keys": True,  # whether the phone takes keys from the shell
    "refusal": None,  # why the app takes no bundle
    "provider": True,  # whether the app passes on files
    "file": True,  # whether the app tells of its run in a file, too
    "log_shows": True,  # whether logcat shows the app's lines
    "hanging": [],  # commands of the phone that do not answer, each once
    "activity": True,  # whether the installed app has it
    "on_top": False,  # whether it is in front already
    "finished": False,  # whether a pair was finished before the app ended
    "running": True,  # whether the app's process lives on after the run's last line
    "install_failure": None,
    "push_failure": None,
    "log": ["progress 1 4", "progress 4 4", "done"],  # what the app logs, or what happens to the phone
    "message": "",
}
UNAUTHORIZED = (
    "device unauthorized.\nThis adb server's $ADB_VENDOR_KEYS is not set\n"
    "Try 'adb kill-server' if that seems wrong.\nOtherwise check for a confirmation dialog on your device."
)


def setting(name):
    return {**DEFAULTS, **json.loads((PHONE / "phone.json").read_text())}[name]


def change(**settings):
    path = PHONE / "phone.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **settings}))


def fail(text, code=1, to=sys.stderr):
    print(text, file=to)
    sys.exit(code)


# ---- the computer's side ---------------------------------------------------------------------------
def main(arguments):
    with (PHONE / "calls.jsonl").open("a") as calls:
        print(json.dumps(arguments), file=calls)
    if not setting("daemon"):
        print("* daemon not running; starting now at tcp:5037", file=sys.stderr)
        print("* daemon started successfully", file=sys.stderr)
        change(daemon=True)
    serial = None
    if arguments[0] == "-s":
        _, serial, *arguments = arguments
    command, *rest = arguments
    commands = {"get-state": get_state, "shell": shell, "push": push, "pull": pull, "install": install}
    if command == "devices":
        devices(rest)
    elif command == "logcat":
        logcat(serial, rest)
    elif command in commands:
        commands[command](unready(serial), rest)
    else:
        fail(f"adb: unknown command {command}")


def unready(serial):
    """Why the phone cannot be reached, or None."""
    found = [device for device in setting("devices") if serial in (None, device[0])]
    if len(found) != 1:
        return "more than one device/emulator" if found else missing(serial)
    reasons = {"device": None, "unauthorized": UNAUTHORIZED, "offline": "device offline"}
    return reasons[found[0][1]]


def missing(serial):
    return f"device '{serial}' not found" if serial else "no devices/emulators found"


def devices(options):
    print("List of devices attached")
    for number, (serial, state, model) in enumerate(setting("devices"), start=1):
        if options != ["-l"]:
            print(f"{serial}\t{state}")
        else:
            facts = f" product:husky model:{model} device:husky" if state == "device" else ""
            print(f"{serial:<22} {state} usb:1-{number}{facts} transport_id:{number}")
    print()


def get_state(problem, _):
    if problem:
        fail(f"error: {problem}")
    print("device")


def shell(problem, words):
    if problem:
        fail(f"error: {problem}")
    tools = PHONE / "bin"
    tools.mkdir(exist_ok=True)
    for name in TOOLS:
        if not (tools / name).exists():
            (tools / name).symlink_to(os.path.realpath(sys.argv[0]))
    environment = {"FAKE_ADB": str(PHONE), "PATH": str(tools)}
    os.execve("/bin/sh", ["sh", "-c", " ".join(words)], environment)


def push(problem, words):
    source, target = pathlib.Path(words[0]), words[1]
    if problem:
        fail(f"adb: error: failed to get feature set: {problem}", to=sys.stdout)
    if not source.exists():
        fail(f"adb: error: cannot stat '{source}': No such file or directory", to=sys.stdout)
    if setting("push_failure"):
        fail(f"adb: error: failed to copy '{source}' to '{target}': {setting('push_failure')}", to=sys.stdout)
    import shutil

    place = on_storage(target)
    if not may_write(place.parent, "shell"):
        refused = "remote secure_mkdirs failed: Permission denied"
        fail(f"adb: error: failed to copy '{source}' to '{target}': {refused}", to=sys.stdout)
    place = place / source.name if place.is_dir() else place
    made_by(place.parent, "shell")
    shutil.copytree(source, place)
    told(source, [path for path in source.rglob("*") if path.is_file()], "pushed", "/")


def pull(problem, words):
    source, target = words[0], pathlib.Path(words[1])
    if problem:
        fail(f"adb: error: failed to get feature set: {problem}", to=sys.stdout)
    if not on_storage(source).exists():
        fail(f"adb: error: failed to stat remote object '{source}': No such file or directory", to=sys.stdout)
    target.write_bytes(on_storage(source).read_bytes())
    told(source, [target], "pulled")


def told(name, paths, how, end=""):
    size = sum(path.stat().st_size for path in paths)
    files = f"{len(paths)} file{'s' * (len(paths) != 1)} {how}"
    print(f"{name}{end}: {files}, 0 skipped. 31.4 MB/s ({size} bytes in 0.012s)")


def install(problem, words):
    path = words[-1]
    if problem:
        print("Performing Push Install")
        print(f"adb: error: failed to get feature set: {problem}")
        fail(f"error: {problem}", 255)
    if not os.path.exists(path):
        fail(f"adb: failed to stat {path}: No such file or directory")
    print("Performing Streamed Install")
    if setting("install_failure"):
        fail(f"adb: failed to install {path}: Failure [{setting('install_failure')}]")
    change(installed=True)
    print("Success")


def logcat(serial, options):
    if unready(serial):
        print("- waiting for device -", file=sys.stderr)
        time.sleep(600)
    assert options == ["-v", "raw", "-s", "HsvitBenchmark:I"], options
    print("--------- beginning of main", flush=True)
    if not setting("log_shows"):
        time.sleep(600)
    for line in json.loads((PHONE / "log.json").read_text()) if (PHONE / "log.json").exists() else []:
        if line == "lost":
            change(devices=[])
            return
        if line == "eof":  # once
            lines = json.loads((PHONE / "log.json").read_text())
            (PHONE / "log.json").write_text(json.dumps([other for other in lines if other != "eof"]))
            fail("read: unexpected EOF!")
        print(line, flush=True)
    time.sleep(600)


# ---- the phone's side ------------------------------------------------------------------------------
def on_storage(path):
    for name in ("/sdcard/", "/storage/emulated/0/"):
        if path.startswith(name):
            return STORAGE / path.removeprefix(name)
    fail(f"{path}: Permission denied")


def of_app(name=""):
    """A file of the app in front, on the storage of its user."""
    user = setting("user")
    return (PHONE / f"storage{user}" if user else STORAGE) / FILES / name


def owners():
    record = PHONE / "owners.json"
    return json.loads(record.read_text()) if record.exists() else {}


def made_by(folder, user):
    """Makes a folder and those above it that are missing; they belong to `user`."""
    made = {str(path): user for path in (folder, *folder.parents) if not path.exists()}
    folder.mkdir(parents=True, exist_ok=True)
    (PHONE / "owners.json").write_text(json.dumps(owners() | made))


def may_write(folder, user):
    nearest = next((path for path in (folder, *folder.parents) if str(path) in owners()), None)
    return nearest is None or owners()[str(nearest)] == user or setting(f"{user}_writes")


def tool(name, words):
    if name in setting("hanging"):
        change(hanging=[other for other in setting("hanging") if other != name])
        time.sleep(600)
    tools = {"cat": cat, "content": content, "input": keys, "ls": ls, "pidof": pidof, "pm": pm, "rm": rm}
    (tools | {"am": am})[name](words)


def keys(words):
    if not setting("keys"):
        fail("java.lang.SecurityException: Injecting input events requires the permission INJECT_EVENTS")


def cat(words):
    if not on_storage(words[0]).is_file():
        fail(f"cat: {words[0]}: No such file or directory")
    print(on_storage(words[0]).read_text(), end="")


def content(words):
    verb, *options = words
    assert options[::2] == ["--user", "--uri"], words
    uri = urllib.parse.urlparse(options[3])
    if not setting("provider"):
        print(f"Error while accessing provider:{uri.netloc}", file=sys.stderr)
        return print(
            f"java.lang.IllegalStateException: Could not find provider: {uri.netloc}", file=sys.stderr
        )
    assert (options[1], uri.netloc) == (str(setting("user")), f"{APP}.host"), words
    name = urllib.parse.unquote(uri.path.removeprefix("/"))
    if verb == "write":
        made_by((PHONE / name).parent, "app")
        (PHONE / name).write_bytes(sys.stdin.buffer.read())
    elif name.startswith("received/"):
        unpack(PHONE / name)
    elif of_app(name).is_dir():
        list_newest_first(of_app(name))
    elif any(path.is_file() for path in (of_app(name), private(name))):
        print(next(path for path in (of_app(name), private(name)) if path.is_file()).read_text(), end="")
    else:
        print(f"Error while accessing provider:{uri.netloc}", file=sys.stderr)
        print(f"java.io.FileNotFoundException: there is no {name}", file=sys.stderr)


def unpack(archive):
    if setting("refusal"):
        return print(json.dumps({"problem": setting("refusal")}))
    import shutil
    import zipfile

    place = folder_of_app("bundles") / archive.name
    shutil.rmtree(place, ignore_errors=True)
    with zipfile.ZipFile(archive) as packed:
        packed.extractall(place)
    print(json.dumps({"bundle": archive.name}))


def private(name):
    return PHONE / "private" / name


def folder_of_app(name):
    """Where the app writes: into its private folder where it must not write on the storage."""
    shared = of_app(name)
    made_by(shared, "app")
    if may_write(shared, "app"):
        return shared
    private(name).mkdir(parents=True, exist_ok=True)
    return private(name)


def pm(words):
    assert words[0] == "path", words
    of_user = ["--user", str(setting("user"))] if setting("user") else []
    if not (words[1:] == [*of_user, APP] and setting("installed")):
        sys.exit(1)
    print(f"package:/data/app/~~a1==/{APP}-b2==/base.apk")


def pidof(words):
    if words != [APP] or not setting("running"):
        sys.exit(1)
    print("4711")


def ls(words):
    assert words[0] == "-t", words
    folder = on_storage(words[1])
    if not folder.exists():
        fail(f"ls: {words[1]}: No such file or directory")
    list_newest_first(folder)


def list_newest_first(folder):
    for path in sorted(folder.iterdir(), key=lambda path: -path.stat().st_mtime):
        print(path.name)


def rm(words):
    assert words[0] == "-rf", words
    folder = on_storage(words[1])
    if folder.exists() and not may_write(folder.parent, "shell"):
        fail(f"rm: {words[1]}: Permission denied")
    if folder.exists():
        import shutil

        shutil.rmtree(folder, ignore_errors=True)


def am(words):
    if words == ["get-current-user"]:
        return print(setting("user"))
    assert words[:4] == ["start", "-W", "-n", f"{APP}/.app.MainActivity"], words
    extras, rest = {}, words[4:]
    while rest:
        option, key, value, *rest = rest
        if option not in ("--ez", "--es", "--ei"):
            problem = f"java.lang.IllegalArgumentException: Unknown option: {option}"
            fail(f"\nException occurred while executing 'start':\n{problem}", 255)
        extras[key] = {"--ez": value == "true", "--es": value}.get(option) or int(value)
    print(f"Starting: Intent {{ cmp={APP}/.app.MainActivity (has extras) }}")
    if not setting("activity"):
        print("Error type 3")
        print(f"Error: Activity class {{{APP}/{APP}.app.MainActivity}} does not exist.")
        return
    if setting("on_top"):
        print(
            "Warning: Activity not started, intent has been delivered to currently running top-most instance."
        )
    print(f"Status: ok\nActivity: {APP}/.app.MainActivity\nTotalTime: 312\nWaitTime: 315\nComplete")
    for name in ("bundles", "reports", "runs"):
        folder_of_app(name)
    if extras:
        (PHONE / "started.json").write_text(json.dumps(extras))
        run_app(extras["run_id"])


def run_app(run_id):
    """Everything that the app will log of the run, its report, and the file that tells where it is."""
    reports = folder_of_app("reports")
    last = "{}"
    lines = [result("an older run", "failed", None, "of old"), "HSVIT_PROGRESS {cut", "HSVIT_RESULT 7"]
    for step in setting("log"):
        name, *numbers = step.split()
        if setting("finished"):
            finish(reports / f"{run_id}.json")
        if name == "progress":
            told = {"run_id": run_id, "done": int(numbers[0]), "total": int(numbers[1])}
            lines.append(f"HSVIT_PROGRESS {json.dumps(told)}")
            last = json.dumps(told)
        elif name in ("done", "cancelled", "failed"):
            report = None
            if (PHONE / "report.json").exists():
                finish(reports / f"{run_id}.json")
                report = f"/storage/emulated/{setting('user')}/{FILES}/reports/{run_id}.json"
            lines.append(result(run_id, name, report, setting("message")))
            last = lines[-1].removeprefix("HSVIT_RESULT ")
        else:
            lines.append(name)
    (PHONE / "log.json").write_text(json.dumps(lines))
    if setting("file"):
        (folder_of_app("runs") / f"{run_id}.json").write_text(last)


def finish(report):
    report.write_bytes((PHONE / "report.json").read_bytes())


def result(run_id, status, report, message):
    content = {"run_id": run_id, "status": status, "report": report, "pairs": 1, "message": message}
    return f"HSVIT_RESULT {json.dumps(content)}"


def start():
    """Does what the program is called: `adb`, or a tool of the phone's shell."""
    name = pathlib.Path(sys.argv[0]).name
    if name in TOOLS:
        tool(name, sys.argv[1:])
    else:
        main(sys.argv[1:])
