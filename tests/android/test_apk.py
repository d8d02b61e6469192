"""The APK as it is built, opened; and a model that the app's runtime refuses ends the build."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import zipfile

import keras
import numpy as np
import pytest

if keras.backend.backend() != "tensorflow":
    pytest.skip("conversion needs the TensorFlow backend", allow_module_level=True)

from export.bundles.writing import Original, Request, write
from tests.android.references import missing_on_android_8
from tests.export import bundles

DEMO = pathlib.Path(__file__).parents[2] / "android_demo"
MISSING = [tool for tool in ("mvn", "javac", "aapt2", "zipalign", "apksigner") if not shutil.which(tool)]
PAGE = 16384

pytestmark = [
    pytest.mark.tensorflow,
    pytest.mark.skipif(bool(MISSING), reason=f"building the APK needs {', '.join(MISSING)}"),
]


def make_bundle(folder):
    models = bundles.make_models(folder)
    mobile = [str(models / f"{name}.tflite") for name in ("dynamic", "int8")]
    write(Request([Original(str(models / "model.keras"), mobile)], str(folder / "bundle"), images=3))
    return folder / "bundle"


def build(bundle_folder, target, *more, **environment):
    """Runs Maven; returns the APK's path, what was printed and whether it went well."""
    options = [f"-Dbuild={target}", f"-Dbundle={bundle_folder}", "-DskipUnitTests=true", *more]
    command = ["mvn", "--quiet", "--batch-mode", "--file", str(DEMO / "pom.xml"), "verify", *options]
    keys = {"ANDROID_USER_HOME": str(target.parent / "keys")}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | keys | environment)
    return target / "hsvit-benchmark.apk", done.stdout + done.stderr, done.returncode == 0


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_the_apk(tmp_path):
    made = make_bundle(tmp_path)
    apk, printed, well = build(made, tmp_path / "target", HOME=str(tmp_path))
    assert well, printed
    check_manifest(apk)
    with zipfile.ZipFile(apk) as archive:
        check_content(archive, made)
        check_alignment(archive, apk.read_bytes())
        dex = pathlib.Path(archive.extract("classes.dex", tmp_path))
    # What the app asks of newer phones alone, after a look at their level.
    assert missing_on_android_8(dex, tmp_path / "target/tools/r8.jar", tmp_path) == {
        "android.os.Build.SOC_MANUFACTURER",  # level 31
        "android.os.Build.SOC_MODEL",  # level 31
        "android.os.PowerManager.getCurrentThermalStatus()",  # level 29
        "android.os.PowerManager.getThermalHeadroom(int)",  # level 30
    }
    verified = output_of("apksigner", "verify", "--verbose", str(apk))
    assert "Verified using v2 scheme (APK Signature Scheme v2): true" in verified
    assert "Verified using v3 scheme (APK Signature Scheme v3): true" in verified
    assert "CN=Android Debug" in output_of("apksigner", "verify", "--print-certs", str(apk))


def check_manifest(apk):
    badging = output_of("aapt2", "dump", "badging", str(apk))
    assert "package: name='org.hsvit.benchmark' versionCode='1' versionName='1.0'" in badging
    assert "sdkVersion:'26'" in badging and "targetSdkVersion:'34'" in badging
    assert "launchable-activity: name='org.hsvit.benchmark.app.MainActivity'" in badging
    assert "native-code: 'arm64-v8a' 'armeabi-v7a' 'x86_64'" in badging
    assert "application-debuggable" not in badging
    tree = output_of("aapt2", "dump", "xmltree", "--file", "AndroidManifest.xml", str(apk))
    assert "uses-permission" not in tree
    assert re.search(r"allowBackup\(0x\w+\)=false", tree)
    host = tree[tree.index('".app.HostProvider"') :]
    assert re.search(r'permission\(0x\w+\)="android.permission.DUMP"', host), "for adb's shell alone"
    assert re.search(r"extractNativeLibs\(0x\w+\)=false", tree)
    assert tree.count("E: uses-native-library") == 3  # or Android 12 hides OpenCL from the GPU delegate
    main = tree[tree.index("E: activity") :]
    assert re.search(r"exported\(0x\w+\)=true", main)
    assert re.search(r"launchMode\(0x\w+\)=2", main)  # singleTask
    service = tree[tree.index("E: service") :]
    assert re.search(r'process\(0x\w+\)=":runner"', service)


def check_content(archive, made):
    names = archive.namelist()
    assert archive.read("classes.dex")[:4] == b"dex\n"
    for kind in (b"Lorg/hsvit/benchmark/measure/Benchmark;", b"Lorg/tensorflow/lite/gpu/GpuDelegate;"):
        assert kind in archive.read("classes.dex")
    assert {name for name in names if name.startswith("lib/")} == {
        f"lib/{abi}/libtensorflowlite_{part}.so"
        for abi in ("arm64-v8a", "armeabi-v7a", "x86_64")
        for part in ("jni", "gpu_jni")
    }
    for file in (file for file in made.rglob("*") if file.is_file()):
        assert archive.read(f"assets/bundle/{file.relative_to(made)}") == file.read_bytes()


def check_alignment(archive, content):
    """Libraries, models and resources are stored as they are, and begin on a page."""
    mapped = [info for info in archive.infolist() if info.filename.endswith((".so", ".tflite", ".arsc"))]
    assert len(mapped) == 10
    for info in mapped:
        assert info.compress_type == zipfile.ZIP_STORED
        name, extra = struct.unpack_from("<HH", content, info.header_offset + 26)
        start = info.header_offset + 30 + name + extra
        assert content[start : start + info.file_size] == archive.read(info)
        assert start % PAGE == 0, info.filename


@pytest.mark.slow
def test_a_model_that_the_runtime_refuses(tmp_path):
    made, target = make_bundle(tmp_path), tmp_path / "target"
    newer = (tmp_path / "newer.tflite").read_bytes()
    (made / "dynamic.tflite").write_bytes(newer)
    described = json.loads((made / "bundle.json").read_text())
    described["models"][1] |= {"bytes": len(newer), "sha256": hashlib.sha256(newer).hexdigest()}
    (made / "bundle.json").write_text(json.dumps(described))
    target.mkdir()
    (target / "hsvit-benchmark.apk").write_text("an older one")
    apk, printed, well = build(made, target)
    assert not well
    assert not apk.exists()
    for abi in ("ARM64", "ARM32"):
        refused = rf"on {abi} dynamic\.tflite does not load in TFLite 2\.16\.1: "
        assert re.search(refused + ".*FULLY_CONNECTED' version '12'", printed), printed


@pytest.mark.slow
def test_wrong_outputs_and_a_key_of_ones_own(tmp_path):
    made, target = make_bundle(tmp_path), tmp_path / "target"
    keystore = tmp_path / "own.keystore"
    words = "-storepass secret -alias mine -keyalg RSA -validity 9 -dname CN=Mine"
    subprocess.run(["keytool", "-genkeypair", "-keystore", keystore, *words.split()], check=True)
    own = {"HSVIT_KEYSTORE": str(keystore), "HSVIT_KEY_ALIAS": "mine", "HSVIT_KEYSTORE_PASSWORD": "secret"}
    apk, printed, well = build(made, target, **own)
    assert well, printed
    assert "CN=Mine" in output_of("apksigner", "verify", "--print-certs", str(apk))

    described = json.loads((made / "bundle.json").read_text())
    reference = described["models"][2]["reference"]
    rows = np.fromfile(made / reference["file"], "<f4").reshape(3, 10)
    rows[1, 4] += 2 * reference["outputs"][0]["max_abs_diff"]
    (made / reference["file"]).write_bytes(rows.tobytes())
    reference["sha256"] = hashlib.sha256(rows.tobytes()).hexdigest()
    (made / "bundle.json").write_text(json.dumps(described))
    apk, printed, well = build(made, target)
    assert not well and not apk.exists()
    for abi in ("ARM64", "ARM32"):
        wrong = rf"int8\.tflite gives wrong outputs on {abi} for image 1: \S+ \[.*\]; correct is \["
        assert re.search(wrong, printed), printed


def test_a_missing_bundle_and_a_missing_tool(tmp_path):
    script = [
        str(DEMO / "build_apk"),
        str(tmp_path),
        "android.jar",
        str(tmp_path / "none"),
        str(tmp_path / "a.apk"),
    ]
    done = subprocess.run(script, capture_output=True, text=True)
    assert done.returncode == 1
    assert re.fullmatch(r"error: no bundle in .*/none: python -m export.bundle makes one\n", done.stderr)
    tools = tmp_path / "bin"
    tools.mkdir()
    for tool in ("bash", "dirname", "aapt2", "apksigner"):
        (tools / tool).symlink_to(shutil.which(tool))
    done = subprocess.run(script, capture_output=True, text=True, env={"PATH": str(tools)})
    assert (done.returncode, done.stderr) == (
        1,
        "error: needs zipalign; on Debian: apt-get install zipalign\n",
    )
