/** The page: reads the site, measures when asked, shows what was measured. */

import { browserClock, resolution } from "./measure/clock.js";
import * as device from "./report/device.js";
import { Session } from "./report/session.js";
import { findFeatures } from "./runtime/features.js";
import { filesFor } from "./runtime/litert.js";
import { readBundle, readSite } from "./site/files.js";
import { Classifying } from "./view/classify.js";
import { byId, h } from "./view/dom.js";
import { kindOf, whyNoPictures } from "./view/kinds.js";
import { integer, step } from "./view/numbers.js";
import { keepForOffline, watchForNewer } from "./view/offline.js";
import { showResults } from "./view/results.js";
import { chosenPairs, fillForm, fillFromAddress, readSettings } from "./view/settings.js";
import * as sharing from "./view/sharing.js";

const base = new URL(".", location.href).href;
const form = byId("settings");
const LOADING_MS = 60_000; // at most, before a run that the address asked for
const startWorker = () => new Worker(new URL("worker.js", base));
let hiddenCount = 0;
let session = null;
let report = null;

document.addEventListener("visibilitychange", () => (hiddenCount += document.hidden ? 1 : 0));

watchForNewer(showNewer);
start().catch((error) => showProblem(error.message));

async function start() {
  const features = await findFeatures();
  const site = await readSite(base);
  const { bundle, pictures } = await readBundle(base, site);
  document.title = `${bundle.name}: benchmark`;
  byId("name").textContent = bundle.name;
  byId("kind").textContent = kindOf(bundle);
  fillForm(form, bundle, features);
  showBrowser(features);
  const refusal = whyNoPictures(bundle);
  const classifying = refusal
    ? null
    : new Classifying({ base, site, bundle, pictures, startWorker, settings: () => readSettings(form) });
  for (const part of ["try-fields", "seen"]) {
    byId(part).hidden = refusal !== null;
  }
  byId("try-note").textContent = refusal ?? "Pictures stay in this browser.";
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    classifying?.stop();
    measure({ base, site, bundle, pictures });
  });
  byId("cancel").addEventListener("click", () => session?.cancel());
  for (const button of ["reload", "newer-reload"]) {
    byId(button).addEventListener("click", () => location.reload());
  }
  for (const action of ["download", "copy", "send"]) {
    byId(action).addEventListener("click", () => share(action));
  }
  byId("send").hidden = !(await sharing.takesReports(base));
  const runs = fillFromAddress(form, location.search);
  byId("loading").hidden = true;
  byId("content").hidden = false;
  const bundled = Object.keys(site.files).filter((path) => !path.startsWith("wasm/"));
  const paths = ["./", "site.json", ...bundled, ...filesFor(features)];
  const kept = keepForOffline(paths, site.version, showNewer).then((told) => (byId("offline").textContent = told));
  if (runs) {
    await Promise.race([kept, browserClock.sleep(LOADING_MS)]); // loading would disturb the measurement
    form.requestSubmit();
  }
}

async function measure({ base, site, bundle, pictures }) {
  let settings;
  const names = chosenPairs(form);
  try {
    settings = readSettings(form);
    if (!names.length) {
      throw new Error("Choose at least one model to measure.");
    }
  } catch (error) {
    byId("form-problem").textContent = error.message;
    error.field?.focus();
    return;
  }
  byId("form-problem").textContent = "";
  setRunning(true);
  const [hints, agent, cores] = await device.thisDevice();
  const run = { base, site, bundle, pictures, settings, litert: LITERT_VERSION };
  session = new Session(
    { ...run, device: device.describe(hints, agent, cores), browser: device.browser(hints, agent) },
    { startWorker, state: device.state, attention, progress: showProgress },
  );
  const lock = await navigator.wakeLock?.request("screen").catch(() => null);
  try {
    const outcome = await session.measure(bundle.pairs.filter(({ name }) => names.includes(name)));
    report = outcome.report;
    showResults(byId("numbers"), report, outcome.failures);
  } finally {
    await lock?.release();
    session = null;
    setRunning(false);
  }
  byId("sharing").hidden = report === null;
  byId("shared").textContent = "";
  byId("status").textContent = report ? "Done." : "Nothing was measured.";
  byId("results-title").focus();
  if (report && new URLSearchParams(location.search).has("send")) {
    await share("send");
  }
}

/** Waits until the page is shown; gives how often it was hidden. */
async function attention() {
  while (document.hidden) {
    byId("status").textContent = "Paused: the page is hidden.";
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
  return hiddenCount;
}

function setRunning(running) {
  byId("run").disabled = running;
  byId("cancel").disabled = !running;
  byId("fields").disabled = running;
  byId("try-fields").disabled = running;
  if (running) {
    showProgress(0, null);
    byId("cancel").focus();
    // The results' place is there from the start, so that nothing moves when they are.
    byId("results").hidden = false;
    byId("sharing").hidden = true;
    byId("numbers").replaceChildren(h("p", { class: "quiet" }, "They stand here when all is measured."));
  }
}

function showProgress(share, name) {
  byId("progress").value = share;
  const told = hiddenCount ? ` (the page was hidden ${hiddenCount} times)` : "";
  byId("status").textContent = name ? `Measuring ${name}${told}` : "Starting";
}

async function share(action) {
  const told = byId("shared");
  try {
    if (action === "download") {
      sharing.download(report);
      told.textContent = "Downloaded.";
    } else if (action === "copy") {
      await sharing.copy(report);
      told.textContent = "Copied.";
    } else {
      told.textContent = `Sent, as ${await sharing.send(base, report)}.`;
    }
  } catch (error) {
    told.textContent = `That did not work: ${error.message}.`;
  }
}

/** What this browser offers, and what would offer more. */
function showBrowser({ relaxedSimd, threads, gpu }) {
  const facts = [
    ["Threads", threads > 1 ? `1 to ${integer(threads)}` : `1, ${whyOneThread()}`],
    ["WebAssembly", relaxedSimd ? "with relaxed SIMD" : "without relaxed SIMD, which is slower"],
    ["WebGPU", gpu ? `${gpu.name}${gpu.emulated ? ", emulated by the CPU" : ""}` : "none"],
    ["Clock", `steps of ${step(resolution(browserClock))}`],
  ];
  byId("browser").append(...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
  byId("reload").hidden = !(threads === 1 && isSecureContext && !crossOriginIsolated);
}

function whyOneThread() {
  if (!isSecureContext) {
    return "as threads need https";
  }
  if (!crossOriginIsolated) {
    return "as the server sends no COOP and COEP headers; the page has its own after it is loaded again";
  }
  return "as this browser has no more";
}

function showProblem(message) {
  byId("loading").hidden = true;
  byId("problem").textContent = message;
  byId("problem").hidden = false;
}

function showNewer() {
  byId("newer").hidden = false;
}
