/**
 * Finds what limits the numbers of a report.
 *
 * Warnings that `measuring/benchmark_report.py` and the Android app give, too, have the same text.
 */

import { median } from "../measure/statistics.js";

const NOISY = 1.5; // p90 over p50; a quiet device stays below 1.2
const FEW_RUNS = 100;
const DRIFT = 1.15; // of block medians, the end over the start
const LEAST_BLOCKS = 6; // to see a drift

export function warning(code, model, message) {
  return { code, model, message };
}

/**
 * @param {object[]} models `{name, result, settings}`, see `assemble.js`
 * @param {object[]} pairs `{name, resolutionMs, repeatedRounds}`
 */
export function findWarnings(models, pairs) {
  return [
    ...models.flatMap(({ name, result }) => ofOutputs(name, result)),
    ...models.flatMap(({ name, result, settings }) => ofAccelerator(name, result.facts, settings)),
    ...models.flatMap(({ name, result, latency }) => ofLatency(name, result, latency)),
    ...pairs.flatMap(ofPage),
  ];
}

function ofOutputs(name, { notFinite, samples, reference }) {
  const found = [];
  if (notFinite > 0) {
    found.push(warning("not_finite", name, `${notFinite} of ${samples} outputs hold NaN or infinity`));
  }
  if (reference === null) {
    found.push(warning("not_checked", name, "its outputs were not checked: there is no reference"));
  } else if (!reference.right) {
    const by = reference.max_abs_diff === null ? "" : ` by up to ${short(reference.max_abs_diff)}`;
    found.push(
      warning(
        "wrong_answers",
        name,
        `WRONG OUTPUTS for ${reference.wrong_samples} of ${reference.samples} samples: they differ from those of ` +
          `${reference.runtime}${by}, at most ${short(reference.limit)} is allowed`,
      ),
    );
  }
  return found;
}

function ofAccelerator(name, facts, settings) {
  const found = [];
  if (settings.accelerator === "webgpu" && facts.used !== "gpu") {
    found.push(warning("fallback", name, "WebGPU was asked for, the model ran as WebAssembly"));
  }
  if (facts.partly) {
    found.push(warning("fallback", name, "parts of the model ran as WebAssembly, as WebGPU does not run all of it"));
  }
  if (facts.emulated) {
    found.push(warning("fallback", name, "the browser's WebGPU is emulated by the CPU"));
  }
  if (facts.used === "cpu" && settings.accelerator === "wasm" && settings.threads !== facts.threadsUsed) {
    const message = `${settings.threads} threads were asked for, the runtime uses ${facts.threadsUsed}`;
    found.push(warning("threads", name, message));
  }
  return found;
}

function ofLatency(name, { blocksMs, repeats, resolutionMs }, latency) {
  const found = [];
  const spread = latency.p90 / latency.p50;
  if (spread > NOISY) {
    found.push(warning("noisy", name, `one run in ten took ${spread.toFixed(1)} times the median or longer`));
  }
  if (latency.count < FEW_RUNS) {
    found.push(warning("few_runs", name, `p99 of ${latency.count} runs is hardly more than their maximum`));
  }
  if (repeats > 1) {
    const message = `the clock has steps of ${short(resolutionMs)} ms, so each time is the mean of ${repeats} runs`;
    found.push(warning("clock", name, `${message}, in which single slow runs do not show`));
  }
  const change = drift(blocksMs);
  if (change !== null && (change > DRIFT || change < 1 / DRIFT)) {
    const message = `the last blocks took ${change.toFixed(2)} times as long as the first`;
    found.push(warning("drift", name, change > 1 ? `${message}: the device may have become hot` : message));
  }
  return found;
}

/** Median of the last third of the blocks over that of the first third; null for few blocks. */
export function drift(blocksMs) {
  if (blocksMs.length < LEAST_BLOCKS) {
    return null;
  }
  const third = Math.floor(blocksMs.length / 3);
  return median(blocksMs.slice(-third).flat()) / median(blocksMs.slice(0, third).flat());
}

function ofPage({ name, repeatedRounds }) {
  return repeatedRounds
    ? [warning("hidden", null, `the page was hidden while ${name} was measured: ${repeatedRounds} rounds were repeated`)]
    : [];
}

/** Three digits that count. */
function short(value) {
  return String(Number(value.toPrecision(3)));
}
