#!/usr/bin/env -S python3 -IS
"""Stands in for adb and for a phone with the benchmark app.

The folder $FAKE_ADB is the phone: `phone.json` sets how it behaves (see `DEFAULTS`), `storage/` is its
/sdcard, `report.json` is what the app writes; `calls.jsonl` and `started.json` record the calls.

Modelled on:
- adb 29.0.6 of Debian, run without a phone: exit codes, texts and where they go (`push` and `pull` complain
  on standard output, `logcat` waits for ever);
- newer sources (transport.cpp, file_sync_client.cpp, commandline.cpp): phones that are not ready,
  `devices -l`, a pushed folder that becomes a child of one that exists, and the words of `shell`, which are
  joined by spaces and read again by a shell. Here that is a real shell whose only commands are links to this
  file;
- Android's ActivityManagerShellCommand and `pm path`: what they print, and that `am start` ends with 0 where
  there is no such activity;
- reports of users: that `logcat` may end for no reason, with "read: unexpected EOF!".
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

PHONE = pathlib.Path(os.environ["FAKE_ADB"])
STORAGE = PHONE / "storage"
APP = "org.hsvit.benchmark"
TOOLS = ("am", "input", "ls", "pidof", "pm", "rm")

DEFAULTS = {
    "devices": [["PHONE1", "device", "Pixel_8"]],  # serial, state, model
    "daemon": True,  # whether the server runs already
    "installed": True,
    "activity": True,  # whether the installed app has it
    "on_top": False,  # whether it is in front already
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
    links = dict.fromkeys(TOOLS, os.path.realpath(__file__)) | {"python3": os.path.realpath(sys.executable)}
    for name, target in links.items():
        if not (tools / name).exists():
            (tools / name).symlink_to(target)
    environment = {"FAKE_ADB": str(PHONE), "PATH": str(tools)}
    sys.exit(subprocess.run(["/bin/sh", "-c", " ".join(words)], env=environment).returncode)


def push(problem, words):
    source, target = pathlib.Path(words[0]), words[1]
    if problem:
        fail(f"adb: error: failed to get feature set: {problem}", to=sys.stdout)
    if not source.exists():
        fail(f"adb: error: cannot stat '{source}': No such file or directory", to=sys.stdout)
    if setting("push_failure"):
        fail(f"adb: error: failed to copy '{source}' to '{target}': {setting('push_failure')}", to=sys.stdout)
    place = on_storage(target)
    place = place / source.name if place.is_dir() else place
    shutil.copytree(source, place)
    told(source, [path for path in source.rglob("*") if path.is_file()], "pushed", "/")


def pull(problem, words):
    source, target = words[0], pathlib.Path(words[1])
    if problem:
        fail(f"adb: error: failed to get feature set: {problem}", to=sys.stdout)
    if not on_storage(source).exists():
        fail(f"adb: error: failed to stat remote object '{source}': No such file or directory", to=sys.stdout)
    shutil.copyfile(on_storage(source), target)
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


def tool(name, words):
    {"am": am, "input": lambda words: None, "ls": ls, "pidof": pidof, "pm": pm, "rm": rm}[name](words)


def pm(words):
    assert words[0] == "path", words
    if not (words[1] == APP and setting("installed")):
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
    for path in sorted(folder.iterdir(), key=lambda path: -path.stat().st_mtime):
        print(path.name)


def rm(words):
    assert words[0] == "-rf", words
    shutil.rmtree(on_storage(words[1]), ignore_errors=True)


def am(words):
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
    (PHONE / "started.json").write_text(json.dumps(extras))
    run_app(extras["run_id"])


def run_app(run_id):
    """Everything that the app will log of the run, and its report."""
    reports = STORAGE / f"Android/data/{APP}/files/reports"
    lines = [result("an older run", "failed", None, "of old"), "HSVIT_PROGRESS {cut", "HSVIT_RESULT 7"]
    for step in setting("log"):
        name, *numbers = step.split()
        if name == "progress":
            told = {"run_id": run_id, "done": int(numbers[0]), "total": int(numbers[1])}
            lines.append(f"HSVIT_PROGRESS {json.dumps(told)}")
        elif name in ("done", "cancelled", "failed"):
            report = None
            if (PHONE / "report.json").exists():
                reports.mkdir(parents=True, exist_ok=True)
                shutil.copy(PHONE / "report.json", reports / f"{run_id}.json")
                report = f"/storage/emulated/0/Android/data/{APP}/files/reports/{run_id}.json"
            lines.append(result(run_id, name, report, setting("message")))
        else:
            lines.append(name)
    (PHONE / "log.json").write_text(json.dumps(lines))


def result(run_id, status, report, message):
    content = {"run_id": run_id, "status": status, "report": report, "pairs": 1, "message": message}
    return f"HSVIT_RESULT {json.dumps(content)}"


if __name__ == "__main__":
    name = pathlib.Path(sys.argv[0]).name
    if name in TOOLS:
        tool(name, sys.argv[1:])
    else:
        main(sys.argv[1:])
