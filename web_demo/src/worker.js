/**
 * The worker that runs models, so that the page stays alive while they run. One worker measures one pair: what a
 * model breaks ends with it, and the next pair starts with a fresh runtime.
 *
 * It receives one task, `{kind, site, ...}`, and posts what happens as `{kind, ...}`.
 */

import { browserClock, resolution } from "./measure/clock.js";
import { measurePair } from "./measure/benchmark.js";
import { readRows, rowOf } from "./measure/outputs.js";
import { prepare } from "./measure/preparation.js";
import { findFeatures } from "./runtime/features.js";
import { loadRuntime } from "./runtime/litert.js";
import { readFile } from "./site/files.js";

const tasks = { measure, classify };
let answered = () => {};
let classifying = null;

self.onmessage = async ({ data }) => {
  if (data.kind === "shown") {
    answered(data.hidden);
  } else if (data.kind === "picture") {
    await guarded(() => classifying(data.pixels));
  } else {
    await guarded(() => tasks[data.kind](data));
  }
};

async function guarded(action) {
  try {
    await action();
  } catch (error) {
    self.postMessage({ kind: "failed", file: error.file ?? null, message: error.message ?? String(error) });
  }
}

/** Measures a pair: posts "progress", asks "attention", and ends with "measured". */
async function measure({ base, site, bundle, pictures, models, settings }) {
  const runtime = await loadRuntime(base, settings, await findFeatures());
  const runners = {};
  const correct = {};
  for (const side of ["original", "mobile"]) {
    runners[side] = await open(runtime, base, site, models[side]);
    correct[side] = await readCorrect(base, site, models[side]);
  }
  const result = await measurePair({
    bundle,
    pictures,
    models,
    correct,
    runners,
    settings,
    clock: browserClock,
    step: resolution(browserClock),
    attention,
    progress: (done, total) => self.postMessage({ kind: "progress", done, total }),
  });
  self.postMessage({ kind: "measured", result });
}

/** Loads the models of a pair, posts "ready", and then "classified" for each picture. */
async function classify({ base, site, models, settings }) {
  const runtime = await loadRuntime(base, settings, await findFeatures());
  const opened = [];
  for (const model of models) {
    opened.push([model, await open(runtime, base, site, model)]);
  }
  classifying = async (pixels) => {
    const outputs = [];
    for (const [model, runner] of opened) {
      const input = prepare(pixels, model.input);
      const start = performance.now();
      const contents = await runner.run(input);
      const milliseconds = performance.now() - start;
      outputs.push({ row: rowOf(contents, model.outputs), milliseconds });
    }
    self.postMessage({ kind: "classified", outputs });
  };
  self.postMessage({ kind: "ready" });
}

async function open(runtime, base, site, model) {
  try {
    return await runtime.open(await readFile(base, site, `bundle/${model.file}`), model, browserClock);
  } catch (error) {
    throw Object.assign(new Error(`${model.file}: ${error.message ?? error}`), { file: model.file });
  }
}

/** The correct outputs of a model for each image; null where they are not known. */
async function readCorrect(base, site, { reference, outputs }) {
  return reference && readRows(await readFile(base, site, `bundle/${reference.file}`), outputs);
}

/** Waits until the page is shown; gives how often it was hidden so far. */
function attention() {
  return new Promise((resolve) => {
    answered = resolve;
    self.postMessage({ kind: "attention" });
  });
}
