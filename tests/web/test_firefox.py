"""The page in Debian's Firefox, which measures and sends its report by itself, as its address says."""

import json
import subprocess
import time

import pytest

from tests.export import reports
from tests.web.browsers import FIREFOX, require, serving

pytestmark = [pytest.mark.once, pytest.mark.tensorflow, pytest.mark.slow]

_PATIENCE_S = 120


def test_it_measures_and_sends_its_report(site, tmp_path):
    require(FIREFOX, "firefox-esr")
    received = []
    with serving(site, collect=tmp_path / "run", received=lambda path, _: received.append(path)) as server:
        address = f"{server.address}?run&send&blocks=2&runs=2&warmup=5&cooldown=0&pairs=int8&threads=2"
        command = [FIREFOX, "--headless", "--no-remote", "--profile", str(tmp_path / "profile"), address]
        (tmp_path / "profile").mkdir()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as firefox:
            try:
                end = time.monotonic() + _PATIENCE_S
                while not received and time.monotonic() < end and firefox.poll() is None:
                    time.sleep(0.1)
            finally:
                firefox.terminate()
    assert received, "no report came"
    found = json.loads(received[0].read_text())
    reports.validate(found)
    assert "Firefox" in found["runtime"]["language"]
    assert [model["reference"]["right"] for model in found["models"]] == [True, True]
    assert [model["threads"]["used"] for model in found["models"]] == [2, 2]
    # Its clock is coarse: a sample is the mean of so many runs that it lasts about 50 steps, or longer.
    for model in found["models"]:
        assert model["latency_ms"]["p50"] * model["repeats"] > 25 * found["device"]["clock_resolution_ms"]
