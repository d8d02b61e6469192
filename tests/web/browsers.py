"""Debian's browsers, and pages of a site in them."""

import contextlib
import json
import shutil
import threading
import time

import pytest

from export.web_site import server, writing

CHROMIUM = shutil.which("chromium")
FIREFOX = shutil.which("firefox-esr")
_OPTIONS = ["--no-sandbox"]  # which a container gives no rights for


def require(browser, name):
    """Skips a test for which something is not installed or not built."""
    if not (writing.PAGE / "built.json").is_file():
        pytest.skip("the page is not built: `make web-page` builds it, by Node.js")
    if browser is None:
        pytest.skip(f"needs the browser {name}; on Debian: apt-get install {name}")


@contextlib.contextmanager
def chromium(playwright, *options):
    """Playwright's handle of a Chromium without a window."""
    browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*_OPTIONS, *options])
    try:
        yield browser
    finally:
        browser.close()


@contextlib.contextmanager
def serving(site, port=0, **options):
    """A server of the site, as the command starts it; has `address`."""
    running = server.Server(site, "127.0.0.1", port, **options)
    # A connection that is kept would be answered even when the server is shut down.
    handler = running.RequestHandlerClass
    running.RequestHandlerClass = type("Closing", (handler,), {"protocol_version": "HTTP/1.0"})
    running.address = f"http://127.0.0.1:{running.server_port}/"
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield running
    finally:
        running.shutdown()
        running.server_close()


@contextlib.contextmanager
def opened(browser, address, *, ready="#content", **options):
    """A page of a fresh visitor with a small phone.

    It has `faults`, uncaught errors and what was against its security policy, and `hosts`, which it asked.
    """
    phone = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
    context = browser.new_context(**phone, **options)
    context.set_default_timeout(60_000)
    page = context.new_page()
    page.faults, page.hosts = [], set()
    page.on("console", lambda message: _keep_fault(page, message.text))
    page.on("pageerror", lambda error: page.faults.append(str(error)))
    page.on("request", lambda request: page.hosts.add(request.url.split("/")[2]))
    try:
        page.goto(address)
        page.wait_for_selector(ready)
        yield page
    finally:
        context.close()


def _keep_fault(page, text):
    if "Content Security Policy" in text or "Uncaught" in text:
        page.faults.append(text)


def measure(page, timeout_s=60):
    """Presses Run and gives the text of the results."""
    page.click("#run")
    return results(page, timeout_s)


def results(page, timeout_s=60):
    page.wait_for_selector("#status >> text=/^Done|^Nothing/", timeout=1000 * timeout_s)
    return page.inner_text("#results")


def until(page, expression, timeout_s=60):
    """Waits for an expression; Playwright's own way is against the page's security policy."""
    end = time.monotonic() + timeout_s
    while not page.evaluate(expression):
        assert time.monotonic() < end, f"{expression} did not become true"
        page.wait_for_timeout(20)


def report(page):
    """The report that the page offers to download."""
    with page.expect_download() as download:
        page.click("#download")
    with open(download.value.path(), encoding="utf-8") as file:
        return json.load(file)
