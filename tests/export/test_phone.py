"""The phone command against a stand-in for adb; fake_adb.py says how it resembles the real one."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

from export import phone
from export.phones import adb, app
from hsvit_runtime.errors import InputError
from tests.command_line.in_process import call
from tests.export import reports
from tests.export.conftest import BLACK, WHITE

ROOT = pathlib.Path(__file__).parents[2]
# Without the packages of an environment, it starts in a few milliseconds.
PROGRAM = f"""#!{os.path.realpath(sys.executable)} -IS
import sys
sys.path.insert(0, {os.path.dirname(__file__)!r})
import fake_adb
fake_adb.start()
"""
EXTERNAL = "storage/Android/data/org.hsvit.benchmark/files"


class Phone:
    """The stand-in's folder."""

    def __init__(self, folder):
        self.folder = folder
        self.set(installed=True)
        (folder / "report.json").write_text(json.dumps(reports.phone_report()))

    def set(self, **settings):
        (self.folder / "phone.json").write_text(json.dumps(settings))

    def own(self, folder, *names, owner):
        """Makes folders that belong to `owner`, the app or the shell."""
        made = [self.folder / folder, *(self.folder / folder / name for name in names)]
        for path in made:
            path.mkdir(parents=True)
        (self.folder / "owners.json").write_text(json.dumps({str(path): owner for path in made}))

    def started(self):
        return json.loads((self.folder / "started.json").read_text())

    def calls(self):
        path = self.folder / "calls.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def stand_in(tmp_path, monkeypatch):
    folder = tmp_path / "phone"
    program = tmp_path / "bin" / "adb"
    program.parent.mkdir()
    program.write_text(PROGRAM)
    program.chmod(0o755)
    folder.mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("FAKE_ADB", str(folder))
    monkeypatch.delenv("ANDROID_SERIAL", raising=False)
    monkeypatch.setattr(app, "_PAUSE", 0.2)
    return Phone(folder)


def storage():
    return app.require(adb.connect())


def make_bundle(folder, version=3):
    (folder / "images").mkdir(parents=True)
    (folder / "bundle.json").write_text(json.dumps({"bundle_version": version}))
    (folder / "images" / "000.png").write_bytes(b"png")
    return folder


# ---- a whole run -----------------------------------------------------------------------------------
@pytest.mark.usefixtures("stand_in")
def test_a_run_gives_the_report_of_the_phone(tmp_path):
    report = phone.run(adb.connect(), tmp_path / "phone.json")
    assert report == reports.phone_report() == json.loads((tmp_path / "phone.json").read_text())


def test_a_run_tells_the_app_what_to_measure(stand_in, tmp_path):
    settings = {
        "threads": 4,
        "blocks": 7,
        "cooldown_ms": 1500,
        "accelerator": "gpu,npu",
        "fp16": True,
        "cores": "4",
    }
    phone.run(
        adb.connect(), tmp_path / "phone.json", pairs="int8,dynamic", settings=settings | {"runs": None}
    )
    started = stand_in.started()
    assert started.pop("run_id")
    assert started == {"autorun": True, "pairs": "int8,dynamic", **settings}


def test_the_screen_is_woken_and_all_calls_name_the_phone(stand_in, tmp_path):
    phone.run(adb.connect(), tmp_path / "phone.json")
    listing, *others = stand_in.calls()
    assert listing == ["devices", "-l"]
    assert all(call[:2] == ["-s", "PHONE1"] for call in others)
    assert ["-s", "PHONE1", "shell", "input keyevent KEYCODE_WAKEUP"] in others


@pytest.mark.parametrize("name", ['it\'s "quoted" $HOME `id` \\ ; * & (é)', "-dash"])
def test_a_bundle_keeps_its_name_on_the_phone(stand_in, tmp_path, name):
    bundle = make_bundle(tmp_path / name)
    phone.run(adb.connect(), tmp_path / "phone.json", bundle=bundle)
    assert stand_in.started()["bundle"] == name
    sent = stand_in.folder / EXTERNAL / "bundles" / name
    assert (sent / "images" / "000.png").read_bytes() == b"png"


def test_a_bundle_that_is_sent_again_replaces_the_old_one(stand_in, tmp_path):
    bundle = make_bundle(tmp_path / "models")
    (bundle / "old.tflite").touch()
    app.push_bundle(storage(), bundle)
    (bundle / "old.tflite").unlink()
    app.push_bundle(storage(), bundle)
    bundles = stand_in.folder / EXTERNAL / "bundles"
    found = sorted(str(path.relative_to(bundles)) for path in bundles.rglob("*") if path.is_file())
    assert found == ["models/bundle.json", "models/images/000.png"]


@pytest.mark.usefixtures("stand_in")
def test_no_bundle(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"is no folder with a bundle.json"):
        app.push_bundle(storage(), tmp_path)


@pytest.mark.usefixtures("stand_in")
def test_a_bundle_of_another_version_is_not_sent(tmp_path):
    bundle = make_bundle(tmp_path / "models", version=2)
    message = r"bundle_version=2 must be 3: make the bundle again with export\.bundle"
    with pytest.raises(InputError, match=message):
        app.push_bundle(storage(), bundle)
    (bundle / "bundle.json").write_text("[]")
    with pytest.raises(
        InputError, match=r"bundle\.json is no bundle of export\.bundle: .* not of type 'object'"
    ):
        app.push_bundle(storage(), bundle)


def test_progress_is_of_this_run_alone(stand_in):
    other = 'HSVIT_PROGRESS {"run_id": "other", "done": 9, "total": 9}'
    stand_in.set(log=["progress 1 4", other, "progress 2 4", "done"], file=False)
    device, seen = adb.connect(), []
    app.start(device, "mine", pairs="all")
    result = app.follow(storage(), "mine", timeout=60, progress=lambda *step: seen.append(step))
    assert seen == [(1, 4), (2, 4)]
    assert (result.run_id, result.status) == ("mine", "done")


def test_a_log_that_breaks_off_is_read_again(stand_in, tmp_path):
    stand_in.set(log=["progress 1 4", "eof", "progress 2 4", "done"], file=False)
    assert phone.run(adb.connect(), tmp_path / "phone.json")["models"]
    assert [call[2] for call in stand_in.calls()[1:]].count("logcat") == 2


def test_run_ids_differ_and_sort_in_time(monkeypatch):
    ids = [app.new_run_id() for _ in range(20)]
    assert len(set(ids)) == 20
    monkeypatch.setattr(app.time, "strftime", lambda form: "20991231-235959")
    assert app.new_run_id() > max(ids)


# ---- phones that are not ready ---------------------------------------------------------------------
def test_no_adb(tmp_path):
    with pytest.raises(
        adb.PhoneError, match=r"there is no program .*absent: install it, .*apt-get install adb"
    ):
        adb.connect(str(tmp_path / "absent"))
    (tmp_path / "a text").touch()
    with pytest.raises(adb.PhoneError, match="a text cannot be run: Permission denied"):
        adb.connect(str(tmp_path / "a text"))


@pytest.mark.parametrize(
    ("devices", "serial", "message"),
    [
        ([], None, "adb sees no phone: plug one in"),
        ([["A", "unauthorized", ""]], None, "A is not ready, .* 'unauthorized': allow USB debugging"),
        ([["A", "offline", ""]], None, "A is not ready, adb calls it 'offline': unplug it"),
        (
            [["A", "no permissions (user is not in plugdev)", ""]],
            None,
            "'no permissions': udev does not know it",
        ),
        ([["A", "recovery", ""]], None, "adb calls it 'recovery': adb needs it as 'device'"),
        (
            [["A", "device", "Pixel_8"], ["B", "offline", ""]],
            None,
            r"adb sees 2 phones, choose one by --serial: Pixel_8 \(A\) \(device\), B \(offline\)",
        ),
        ([["A", "device", "Pixel_8"]], "C", r"no phone with serial='C', but Pixel_8 \(A\) \(device\)"),
    ],
)
def test_phones_that_are_not_ready(stand_in, devices, serial, message):
    stand_in.set(devices=devices, daemon=False)
    with pytest.raises(adb.PhoneError, match=message):
        adb.connect(serial=serial)


def test_one_of_two_phones(stand_in, monkeypatch):
    stand_in.set(devices=[["A", "device", "Pixel_8"], ["B", "device", "Galaxy"]])
    assert adb.connect(serial="B").name == "Galaxy (B)"
    monkeypatch.setenv("ANDROID_SERIAL", "A")
    assert adb.connect().serial == "A"


NETWORK = ("adb-X (2)._adb-tls-connect._tcp", "adb-X [device] a._adb-tls-connect._tcp", "192.168.1.5:5555")


@pytest.mark.parametrize("serial", NETWORK)
def test_phones_on_the_network_have_serials_with_spaces_and_brackets(stand_in, tmp_path, serial):
    stand_in.set(devices=[[serial, "device", "Pixel_8"], ["B", "unauthorized", ""]])
    with pytest.raises(adb.PhoneError, match="2 phones") as error:
        adb.connect()
    assert str(error.value).endswith(f"choose one by --serial: Pixel_8 ({serial}) (device), B (unauthorized)")
    device = adb.connect(serial=serial)
    assert (device.serial, device.name) == (serial, f"Pixel_8 ({serial})")
    phone.run(device, tmp_path / "phone.json", bundle=make_bundle(tmp_path / "models"))
    assert all(call[:2] == ["-s", serial] for call in stand_in.calls() if call[0] != "devices")


def test_many_phones(stand_in):
    serials = [*NETWORK, "emulator-5554", "R5CT12"]
    states = [
        "offline",
        "no permissions (user in plugdev group?); see [http://x]",
        "device",
        "device",
        "device",
    ]
    stand_in.set(devices=[[*each, "M"] for each in zip(serials, states, strict=True)])
    assert [adb.connect(serial=serial).serial for serial in serials[2:]] == serials[2:]
    for serial, state in zip(serials[:2], ["offline", "no permissions"], strict=True):
        with pytest.raises(adb.PhoneError, match=f"is not ready, adb calls it '{state}'"):
            adb.connect(serial=serial)


def test_a_phone_that_is_gone_by_now(stand_in):
    device = adb.connect()
    stand_in.set(devices=[])
    with pytest.raises(adb.PhoneError, match=r"ls failed on Pixel_8 .*error: device 'PHONE1' not found"):
        device.shell("ls")
    with pytest.raises(adb.PhoneError, match="failed to get feature set: device 'PHONE1' not found"):
        device.pull("/sdcard/x", "x")
    with pytest.raises(adb.PhoneError, match=r"does not respond: error: device 'PHONE1' not found"):
        app.require(device)


# ---- the app ---------------------------------------------------------------------------------------
def test_the_app_is_not_installed(stand_in, tmp_path):
    stand_in.set(installed=False)
    with pytest.raises(adb.PhoneError, match=r"org.hsvit.benchmark is not installed on .*make apk.*--apk="):
        phone.run(adb.connect(), tmp_path / "phone.json")
    assert not (stand_in.folder / "started.json").exists()


def test_the_app_is_installed_first(stand_in, tmp_path):
    stand_in.set(installed=False)
    (tmp_path / "the app.apk").touch()
    phone.run(adb.connect(), tmp_path / "phone.json", apk=tmp_path / "the app.apk")
    stand_in.set(installed=False, install_failure="INSTALL_FAILED_UPDATE_INCOMPATIBLE: signatures differ")
    with pytest.raises(adb.PhoneError, match=r"installing .*the app.apk failed .*signatures differ"):
        app.require(adb.connect(), tmp_path / "the app.apk")
    with pytest.raises(FileNotFoundError, match=r"there is no file apk=.*`make apk` builds the app"):
        app.require(adb.connect(), tmp_path / "no.apk")


def test_an_app_without_the_activity(stand_in, tmp_path):
    stand_in.set(activity=False)
    with pytest.raises(adb.PhoneError, match=r"does not start the app: .*Activity class .* does not exist"):
        phone.run(adb.connect(), tmp_path / "phone.json")


def test_an_app_that_is_open_already(stand_in, tmp_path):
    stand_in.set(on_top=True)
    assert phone.run(adb.connect(), tmp_path / "phone.json")["pairs"]


def test_a_phone_without_room(stand_in, tmp_path):
    stand_in.set(push_failure="couldn't create file: No space left on device")
    with pytest.raises(
        adb.PhoneError, match=r"copying .*models to the phone failed .*No space left on device"
    ):
        app.push_bundle(storage(), make_bundle(tmp_path / "models"))


# ---- runs that end otherwise -----------------------------------------------------------------------
@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_what_was_finished_is_kept(stand_in, tmp_path, status):
    stand_in.set(log=["progress 1 4", status], message="stopped: app left the foreground")
    output = tmp_path / "phone.json"
    ended = {"cancelled": "was cancelled", "failed": "failed"}[status]
    message = rf"run \S+ {ended} on .*: stopped: app .*; the finished pairs are in .*phone\.json"
    with pytest.raises(adb.PhoneError, match=message):
        phone.run(adb.connect(), output)
    assert json.loads(output.read_text()) == reports.phone_report()


def test_nothing_was_finished(stand_in, tmp_path):
    (stand_in.folder / "report.json").unlink()
    stand_in.set(log=["failed"], message="there is no pair 'int9'")
    with pytest.raises(adb.PhoneError, match=r"run \S+ failed on .*: there is no pair 'int9'$"):
        phone.run(adb.connect(), tmp_path / "phone.json")
    assert not list(tmp_path.glob("*phone.json*"))


@pytest.mark.parametrize(
    ("settings", "timeout", "message"),
    [
        (
            {"log": ["progress 2 4", "lost"]},
            60,
            "at step 2 of 4: Pixel_8 .* (is no longer connected|does not respond)",
        ),
        ({"log": ["progress 2 4"], "running": False}, 60, ".*: the app ended without a result"),
        ({"log": []}, 0.3, "before its first step: the app logged nothing for 0.3 s: is the phone unlocked"),
        pytest.param(
            {"log": ["progress 2 4"]}, 3, "at step 2 of 4: the app logged nothing", marks=pytest.mark.slow
        ),
    ],
)
def test_runs_that_are_lost(stand_in, tmp_path, settings, timeout, message):
    stand_in.set(**settings)
    with pytest.raises(adb.PhoneError, match=r"run \S+ was lost " + message):
        phone.run(adb.connect(), tmp_path / "phone.json", timeout=timeout)
    assert not list(tmp_path.glob("*phone.json*"))


def test_a_report_that_does_not_follow_the_schema(stand_in, tmp_path):
    (stand_in.folder / "report.json").write_text(json.dumps(reports.phone_report() | {"pairs": []}))
    with pytest.raises(InputError, match=r"is no benchmark report: it does not follow .*: at pairs"):
        phone.run(adb.connect(), tmp_path / "phone.json")
    (stand_in.folder / "report.json").write_text(json.dumps(reports.phone_report() | {"schema_version": 1}))
    with pytest.raises(InputError, match=r"is no benchmark report: it has schema_version 1"):
        phone.run(adb.connect(), tmp_path / "phone.json")
    assert not list(tmp_path.glob("*phone.json*"))


@pytest.mark.usefixtures("stand_in")
def test_a_place_that_cannot_be_written_shows_before_the_run(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"cannot write .*there is no folder"):
        phone.run(adb.connect(), tmp_path / "absent" / "phone.json")
    assert not (tmp_path / "phone" / "started.json").exists()


# ---- phones that refuse things ---------------------------------------------------------------------
@pytest.fixture
def report_is_that_of_the_phone(tmp_path):
    """The run gave the report, whatever was refused."""
    yield
    assert json.loads((tmp_path / "phone.json").read_text()) == reports.phone_report()


@pytest.mark.usefixtures("report_is_that_of_the_phone")
def test_keys_are_refused(stand_in, tmp_path, capsys):
    stand_in.set(keys=False)
    phone.run(adb.connect(), tmp_path / "phone.json")
    assert "Pixel_8 (PHONE1) refuses adb's keys: keep its screen on and unlocked by hand" in (
        capsys.readouterr().out
    )


@pytest.mark.usefixtures("report_is_that_of_the_phone")
def test_the_app_makes_its_folders_before_adb_does(stand_in, tmp_path):
    stand_in.set(app_writes=False)
    phone.run(adb.connect(), tmp_path / "phone.json", bundle=make_bundle(tmp_path / "models"))
    assert (stand_in.folder / EXTERNAL / "bundles/models/bundle.json").is_file()
    (report,) = (stand_in.folder / EXTERNAL / "reports").iterdir()
    assert report.stem == stand_in.started()["run_id"]


@pytest.mark.usefixtures("report_is_that_of_the_phone")
@pytest.mark.parametrize("log_shows", [True, False])
def test_folders_that_adb_has_made_and_the_app_cannot_write_to(stand_in, tmp_path, log_shows):
    stand_in.set(app_writes=False, log_shows=log_shows)
    stand_in.own(EXTERNAL, "bundles", "reports", "runs", owner="shell")
    phone.run(adb.connect(), tmp_path / "phone.json", bundle=make_bundle(tmp_path / "models"))
    assert not any((stand_in.folder / EXTERNAL / "reports").iterdir())


@pytest.mark.usefixtures("report_is_that_of_the_phone")
@pytest.mark.parametrize("sent_before", [False, True])
def test_a_folder_that_adb_cannot_write_to(stand_in, tmp_path, sent_before):
    """Neither pushes nor `rm -rf` are allowed: the app takes the bundle from its provider."""
    stand_in.set(shell_writes=False)
    bundle = make_bundle(tmp_path / "my models (2)")
    if sent_before:
        app.push_bundle(storage(), bundle)
        (bundle / "more.tflite").write_bytes(b"more")
    phone.run(adb.connect(), tmp_path / "phone.json", bundle=bundle)
    sent = stand_in.folder / EXTERNAL / "bundles" / "my models (2)"
    assert (sent / "images" / "000.png").read_bytes() == b"png"
    assert (sent / "more.tflite").exists() == sent_before
    assert stand_in.started()["bundle"] == "my models (2)"


def test_neither_way_takes_the_bundle(stand_in, tmp_path):
    bundle = make_bundle(tmp_path / "models")
    stand_in.set(shell_writes=False, provider=False)
    with pytest.raises(adb.PhoneError, match=r"Permission denied; nor does the app take it: .*no.* provider"):
        app.push_bundle(storage(), bundle)
    stand_in.set(shell_writes=False, refusal="int8.tflite has another hash")
    message = r"^the app does not take .*models: int8\.tflite has another hash$"
    with pytest.raises(adb.PhoneError, match=message):
        app.push_bundle(storage(), bundle)


@pytest.mark.usefixtures("report_is_that_of_the_phone")
def test_a_log_that_shows_nothing(stand_in, tmp_path):
    stand_in.set(log_shows=False)
    seen = []
    device = adb.connect()
    app.start(device, "silent", pairs="all")
    result = app.follow(storage(), "silent", timeout=60, progress=lambda *step: seen.append(step))
    assert (result.run_id, result.status, seen) == ("silent", "done", [])
    stand_in.set(log_shows=False, log=["progress 3 4"], running=False)
    app.start(device, "killed", pairs="all")
    with pytest.raises(
        adb.PhoneError, match="run killed was lost at step 3 of 4: the app ended without a result"
    ):
        app.follow(storage(), "killed", timeout=60, progress=lambda *step: seen.append(step))
    assert seen == [(3, 4)]
    stand_in.set(log_shows=False)
    phone.run(device, tmp_path / "phone.json")


@pytest.mark.slow
@pytest.mark.usefixtures("report_is_that_of_the_phone")
@pytest.mark.parametrize("command", ["input", "pidof", "cat"])
def test_a_command_that_does_not_answer(stand_in, tmp_path, monkeypatch, command):
    monkeypatch.setattr(adb, "_TIMEOUT", 5)  # the stand-in takes a second on a busy machine
    stand_in.set(log_shows=False, hanging=[command])
    phone.run(adb.connect(), tmp_path / "phone.json")


@pytest.mark.usefixtures("report_is_that_of_the_phone")
def test_an_app_that_was_killed(stand_in, tmp_path):
    stand_in.set(log=["progress 2 4"], running=False, finished=True)
    said = refusal("run", f"--output={tmp_path}/phone.json")
    run_id = stand_in.started()["run_id"]
    offer = f"python -m export.phone pull --run_id={run_id} --output={tmp_path}/phone.json"
    assert said.endswith(f"; pairs that it finished: {offer}")
    assert not (tmp_path / "phone.json").exists()
    call(phone, *offer.split()[3:])


@pytest.mark.usefixtures("report_is_that_of_the_phone")
@pytest.mark.parametrize("log_shows", [True, False])
def test_another_user_is_in_front(stand_in, tmp_path, log_shows):
    stand_in.set(user=10, log_shows=log_shows)
    phone.run(adb.connect(), tmp_path / "phone.json", bundle=make_bundle(tmp_path / "models"))
    assert (stand_in.folder / "storage10" / EXTERNAL[8:] / "bundles/models/bundle.json").is_file()
    assert not (stand_in.folder / "storage").exists()
    assert app.latest_report(storage()) == stand_in.started()["run_id"]


def test_the_app_is_not_installed_for_the_user_in_front(stand_in):
    stand_in.set(user=10, installed=False)
    with pytest.raises(
        adb.PhoneError, match=r"is not installed on Pixel_8 \(PHONE1\) for its user 10: build"
    ):
        storage()


# ---- the command -----------------------------------------------------------------------------------
def refusal(*arguments):
    """The line in which the command says what is wrong."""
    with pytest.raises(InputError) as raised:
        call(phone, *arguments)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def command(tmp_path, *arguments):
    line = [sys.executable, "-m", "export.phone", *arguments, f"--output={tmp_path}/phone.json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(line, env=environment, capture_output=True, text=True, cwd=tmp_path)


@pytest.mark.usefixtures("stand_in")
def test_run_shows_the_numbers_and_makes_the_page(tmp_path):
    done = command(tmp_path, "run", f"--bundle={make_bundle(tmp_path / 'my models')}", "--threads=2")
    assert (done.returncode, done.stderr) == (0, "")
    assert "measures on Pixel_8 (PHONE1), my models was sent" in done.stdout
    assert "mobile.tflite" in done.stdout and "0.500" in done.stdout
    assert "Maker Phone 7" in (tmp_path / "phone.html").read_text()


@pytest.mark.slow
@pytest.mark.tensorflow
def test_artifacts_become_a_bundle(stand_in, tiny_models, tmp_path):
    models = [f"--original={tiny_models}/model.keras", f"--mobile={tiny_models}/float32.tflite"]
    # Models of others say neither.
    done = command(tmp_path, "run", *models, "--data=digits", f"--input_range={BLACK},{WHITE}")
    assert (done.returncode, done.stderr) == (0, "")
    sent = stand_in.folder / EXTERNAL / "bundles" / "model"
    assert {"bundle.json", "original.tflite", "float32.tflite"} <= {path.name for path in sent.iterdir()}
    assert stand_in.started()["bundle"] == "model"


def test_interrupted(stand_in, tmp_path):
    stand_in.set(log=[])
    line = [sys.executable, "-m", "export.phone", "run", f"--output={tmp_path}/phone.json"]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(line, env=environment, stderr=subprocess.PIPE, text=True) as process:
        while process.poll() is None and not any("logcat" in call for call in stand_in.calls()):
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    run_id = stand_in.started()["run_id"]
    assert f"the phone goes on measuring; later: python -m export.phone pull --run_id={run_id}" in said
    assert not list(tmp_path.glob("*phone.json*"))


@pytest.mark.usefixtures("stand_in")
def test_the_report_of_a_run_that_is_gone(tmp_path):
    assert refusal("pull", "--run_id=it's gone", f"--output={tmp_path}/phone.json") == (
        "there is no file /sdcard/Android/data/org.hsvit.benchmark/files/reports/it's gone.json "
        "on Pixel_8 (PHONE1)"
    )


def test_the_newest_report(stand_in):
    files = storage()
    with pytest.raises(adb.PhoneError, match=r"there is no report on Pixel_8 \(PHONE1\) yet"):
        app.latest_report(files)
    folder = stand_in.folder / EXTERNAL / "reports"
    folder.mkdir(parents=True)
    for age, name in enumerate(["new.txt", "middle.json", "old.json"]):
        (folder / name).touch()
        os.utime(folder / name, (1e9 - age, 1e9 - age))
    assert app.latest_report(files) == "middle"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["walk"], "the action is one of run, pull, report; received 'walk'"),
        (["run", "--original=a.keras"], "--original and --mobile belong together"),
        (
            ["run", "--original=a.keras", "--mobile=b.tflite", "--bundle=c"],
            "--bundle holds the models already; name it, or --original and --mobile",
        ),
        (["report"], "there is no benchmark report "),
        (["run", "--adb=absent"], "there is no program absent: install it"),
    ],
)
def test_errors_are_one_line(tmp_path, arguments, message):
    assert refusal(*arguments, f"--output={tmp_path}/phone.json").startswith(message)


def test_a_process_that_is_refused(tmp_path):
    done = command(tmp_path, "walk")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "error: the action is one of run, pull, report; received 'walk'\n"
