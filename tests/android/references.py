"""What a dex file refers to that Android 8 lacks, the oldest Android that the app installs on.

R8's TraceReferences resolves each class, method and field. Classes of `android.` are Android 8's own, those
of `java.` Java 8's, as the JDK's `ct.sym` lists them for `javac --release 8`.
"""

import pathlib
import re
import shutil
import subprocess
import zipfile

ANDROID_8 = "org.robolectric:android-all:8.0.0_r4-robolectric-r1"


def missing_on_android_8(dex, r8, folder):
    """Names what is missing.

    Args:
        dex: path of the dex file.
        r8: path of R8's jar.
        folder: path of a folder for files that this needs.

    Returns:
        set of str such as "android.os.PowerManager.getThermalHeadroom(int)".
    """
    copy = ["mvn", "--quiet", "--batch-mode", "dependency:copy", f"-Dartifact={ANDROID_8}"]
    subprocess.run([*copy, f"-DoutputDirectory={folder}"], check=True, cwd=folder, capture_output=True)
    (android,) = folder.glob("android-all-8*.jar")
    tracer = ["java", "-cp", str(r8), "com.android.tools.r8.tracereferences.TraceReferences", "--check"]
    libraries = ["--lib", str(android), "--lib", str(_java_8(folder / "java8.jar"))]
    done = subprocess.run([*tracer, *libraries, "--source", str(dex)], capture_output=True, text=True)
    printed = done.stdout + done.stderr
    missing = set(re.findall(r"Missing \w+ (?:\S+ )??(\S+) \(referenced from", printed))
    if done.returncode and not missing:
        raise RuntimeError(f"TraceReferences failed: {printed[:1000]}")
    return missing


def _java_8(jar):
    """Writes Java 8's classes, without their code, as a jar."""
    symbols = pathlib.Path(shutil.which("javac")).resolve().parents[1] / "lib" / "ct.sym"
    written = set()
    with zipfile.ZipFile(symbols) as source, zipfile.ZipFile(jar, "w") as target:
        for name in source.namelist():
            found = re.fullmatch(r"\w*8\w*/(?:[\w.]+\.\w+/)?(javax?/.*)\.sig", name)  # releases/module/class
            if found and found[1] not in written:
                written.add(found[1])
                target.writestr(f"{found[1]}.class", source.read(name))
    return jar
