"""The page's modules without a browser: their own tests, and the report that they put together."""

import json
import pathlib
import shutil
import subprocess

import pytest

from measuring import benchmark_report, latency_statistics
from tests.export import reports

pytestmark = pytest.mark.once

PAGE = pathlib.Path(__file__).parents[2] / "web_demo"
NODE = shutil.which("node")


def run(*arguments):
    if NODE is None:
        pytest.skip("needs Node.js; on Debian: apt-get install nodejs npm")
    return subprocess.run([NODE, *arguments], cwd=PAGE, capture_output=True, text=True, timeout=60)


def test_the_modules_pass_their_tests():
    files = sorted(path.relative_to(PAGE).as_posix() for path in PAGE.glob("tests/*.test.js"))
    assert len(files) == 5
    done = run("--test", *files)
    assert done.returncode == 0, done.stdout


def test_a_report_follows_the_schema_and_has_the_numbers_and_warnings_of_python():
    done = run("tests/print_report.js")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    reports.validate(report)
    for model in report["models"]:
        latencies = [latency for block in model["blocks_ms"] for latency in block]
        assert model["latency_ms"] == pytest.approx(latency_statistics.summarize(latencies), rel=1e-12)
    found = benchmark_report.find_warnings(report)
    assert [entry["code"] for entry in found] == ["few_runs"] * 3 + ["few_runs", "threads"]
    assert all(entry in report["warnings"] for entry in found)
    others = [entry["code"] for entry in report["warnings"] if entry not in found]
    assert others == ["not_finite", "wrong_answers"]
