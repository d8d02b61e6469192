"""The Gradle files, which are for Android Studio and not run here, say the same as the Maven build."""

import hashlib
import pathlib
import re
import tomllib
import xml.etree.ElementTree

import pytest

pytestmark = pytest.mark.once

DEMO = pathlib.Path(__file__).parents[2] / "android_demo"
BUILD = (DEMO / "build.gradle.kts").read_text()
CATALOGUE = tomllib.loads((DEMO / "gradle/libs.versions.toml").read_text())
POM = (DEMO / "pom.xml").read_text()
ANDROID = "{http://schemas.android.com/apk/res/android}"


def assigned(name):
    """The value that the Gradle build gives a name."""
    (value,) = re.findall(rf'^ *{name} = "?([\w.]+)"?$', BUILD, re.MULTILINE)
    return value


def test_identity_and_levels_are_those_of_the_manifest():
    manifest = xml.etree.ElementTree.parse(DEMO / "src/main/AndroidManifest.xml").getroot()
    levels = manifest.find("uses-sdk")
    assert assigned("namespace") == assigned("applicationId") == manifest.get("package")
    assert assigned("minSdk") == levels.get(f"{ANDROID}minSdkVersion")
    assert assigned("targetSdk") == levels.get(f"{ANDROID}targetSdkVersion")
    assert assigned("versionCode") == manifest.get(f"{ANDROID}versionCode")
    assert assigned("versionName") == manifest.get(f"{ANDROID}versionName")
    assert assigned("compileSdk") == "34"
    assert "<android.version>14-" in POM  # Android 14 is level 34


def test_java_level_is_that_of_maven():
    assert "<maven.compiler.release>11<" in POM
    assert assigned("sourceCompatibility") == assigned("targetCompatibility") == "JavaVersion.VERSION_11"


def test_libraries_are_for_the_same_processors():
    (gradle,) = re.findall(r"abiFilters \+= listOf\((.*)\)", BUILD)
    (packed,) = re.findall(r"^for abi in (.*); do$", (DEMO / "build_apk").read_text(), re.MULTILINE)
    assert re.findall('"(.*?)"', gradle) == packed.split()


def test_sources_are_where_gradle_looks_by_itself():
    for place in ("src/main/java", "src/main/res", "src/main/AndroidManifest.xml"):
        assert (DEMO / place).exists()
    assert "java.srcDir" not in BUILD and "res.srcDir" not in BUILD
    (assets,) = re.findall(r'assets\.srcDir\("(.*)"\)', BUILD)
    assert f"<bundle>${{project.basedir}}/{assets}/bundle</bundle>" in POM


def test_the_catalogue_is_complete():
    aliases = {"libs.plugins": CATALOGUE["plugins"], "libs": CATALOGUE["libraries"]}
    used = re.findall(r"\((libs\.plugins|libs)\.([\w.]+)\)", BUILD)
    assert {alias.replace(".", "-") for _, alias in used} == {
        *CATALOGUE["plugins"],
        *CATALOGUE["libraries"],
    }
    for group, alias in used:
        assert aliases[group][alias.replace(".", "-")]["version"]["ref"] in CATALOGUE["versions"]


def test_litert_still_has_the_classes_that_are_imported():
    assert CATALOGUE["libraries"]["litert"]["module"] == "com.google.ai.edge.litert:litert"
    assert CATALOGUE["versions"]["litert"].startswith("1.")  # 2 has other classes
    assert "google()" in (DEMO / "settings.gradle.kts").read_text()
    sources = "".join(path.read_text() for path in (DEMO / "src/main/java").rglob("*.java"))
    assert "import org.tensorflow.lite.Interpreter;" in sources
    assert "import androidx." not in sources


def test_the_wrapper_is_gradles_own():
    properties = (DEMO / "gradle/wrapper/gradle-wrapper.properties").read_text()
    assert "distributionUrl=https\\://services.gradle.org/distributions/gradle-8.13-bin.zip" in properties
    assert CATALOGUE["versions"]["agp"].startswith("8.13.")  # which needs Gradle 8.13
    jar = (DEMO / "gradle/wrapper/gradle-wrapper.jar").read_bytes()
    # Gradle's published checksum of the wrapper of 8.13.
    published = "81a82aaea5abcc8ff68b3dfcb58b3c3c429378efd98e7433460610fecd7ae45f"
    assert hashlib.sha256(jar).hexdigest() == published
    assert (DEMO / "gradlew").stat().st_mode & 0o100


def test_libraries_of_tests_have_the_versions_of_maven():
    assert f"<version>{CATALOGUE['versions']['junit']}</version>" in POM
    assert f"<robolectric.version>{CATALOGUE['versions']['robolectric']}<" in POM
    litert = [CATALOGUE["libraries"][name]["version"] for name in ("litert", "litert-api")]
    assert litert[0] == litert[1]


def test_tests_on_a_phone_need_only_what_both_builds_have():
    """Maven compiles them against the stand-ins in `src/maven`, Gradle against AndroidX Test."""
    assert "androidTestImplementation(libs.androidx.test.runner)" in BUILD
    assert assigned("testInstrumentationRunner") == "androidx.test.runner.AndroidJUnitRunner"
    assert "android.useAndroidX=true" in (DEMO / "gradle.properties").read_text()
    assert "<source>src/androidTest/java</source>" in POM
    sources = list((DEMO / "src/androidTest/java").rglob("*.java"))
    imported = set(
        re.findall(r"^import (androidx[\w.]*);", "".join(map(pathlib.Path.read_text, sources)), re.M)
    )
    assert imported == {"androidx.test.platform.app.InstrumentationRegistry"}
    for name in imported:
        assert (DEMO / "src/maven/java" / f"{name.replace('.', '/')}.java").is_file()
    # Gradle would have two of each class or file that Robolectric and AndroidX Test bring.
    assert not (DEMO / "src/test/java/androidx").exists()
    assert not (DEMO / "src/test/resources/com").exists()
    # Surefire runs classes of these names, on the PC.
    assert not [path for path in sources if re.search(r"^Test|Tests?$|TestCase$", path.stem)]
