/** Puts a report together, in the format of `measuring/benchmark.schema.json`. */

import { ratioOfMedians, summarize } from "../measure/statistics.js";
import { findWarnings } from "./warnings.js";

const SCHEMA_VERSION = 2;
const ACCELERATORS = { wasm: "cpu", webgpu: "gpu" };

/**
 * @param {object} run
 * @param {object} run.bundle the content of `bundle.json`
 * @param {object} run.settings `{accelerator, threads, blocks, runs, warmupMs, cooldownMs}`
 * @param {object} run.device see `device.js`
 * @param {string} run.browser name and version
 * @param {string} run.litert version of LiteRT.js
 * @param {object[]} run.results the finished pairs, in the order of time: `{pair, before, after}` and what
 *     `measurePair` gives
 * @param {object[]} run.failures warnings: pairs that could not be measured, and why the run ended early
 * @returns {?object} null where no pair was finished
 */
export function assemble({ bundle, settings, device, browser, litert, results, failures }) {
  if (!results.length) {
    return null;
  }
  const models = named(results, settings);
  const pairs = results.map((result, i) => pair(result, models[2 * i], models[2 * i + 1]));
  const programs = new Set(models.map(({ result }) => result.facts.program));
  return {
    schema_version: SCHEMA_VERSION,
    task: bundle.task,
    tool: { name: "web_demo", version: null },
    settings: {
      blocks: settings.blocks,
      runs: settings.runs,
      warmup: null,
      warmup_s: settings.warmupMs / 1000,
      cooldown_s: settings.cooldownMs / 1000,
      threads: settings.threads,
      data: bundle.images.length ? { name: bundle.name, split: "bundled", samples: bundle.images.length } : null,
    },
    device: {
      ...device,
      before: results[0].before,
      after: results.at(-1).after,
      clock_resolution_ms: Math.max(...results.map(({ resolutionMs }) => resolutionMs)),
    },
    runtime: {
      language: `JavaScript, ${browser}`,
      packages: { "@litertjs/core": litert, program: [...programs].join(", ") },
      debug_build: false,
    },
    models: models.map((each) => model(each, litert)),
    pairs,
    warnings: [
      ...failures,
      ...findWarnings(
        models,
        results.map(({ pair, repeatedRounds }) => ({ name: pair.name, repeatedRounds })),
      ),
    ],
  };
}

/** The measured models, with the names of their files, numbered where a file was measured before. */
function named(results, settings) {
  const taken = new Set();
  return results.flatMap(({ original, mobile, resolutionMs }) =>
    [
      ["original", original],
      ["mobile", mobile],
    ].map(([role, result]) => {
      let name = result.model.file;
      for (let i = 2; taken.has(name); i++) {
        name = `${result.model.file} (${i})`;
      }
      taken.add(name);
      const latency = summarize(result.blocksMs.flat());
      return { name, role, result: { ...result, resolutionMs }, latency, settings };
    }),
  );
}

function pair({ original, mobile, agreement, before, after }, first, second) {
  return {
    original: first.name,
    mobile: second.name,
    ratio: { of: "median", ...ratioOfMedians(original.blocksMs, mobile.blocksMs) },
    agreement,
    before,
    after,
  };
}

function model({ name, role, result, latency, settings }, litert) {
  const { model: file, facts } = result;
  const { range, ...input } = file.input;
  return {
    name,
    role,
    bytes: file.bytes,
    sha256: file.sha256,
    runtime: { name: "LiteRT.js", version: litert },
    threads: {
      requested: settings.threads,
      used: facts.used === "cpu" ? facts.threadsUsed : null,
      busy_cores: null,
    },
    accelerator: {
      requested: ACCELERATORS[settings.accelerator],
      used: facts.used,
      delegate: facts.delegate,
      partitions: null,
      nodes_delegated: null,
      nodes_total: null,
    },
    inputs: [input],
    outputs: file.outputs,
    input_range: range,
    init_ms: facts.initMs,
    first_inference_ms: result.firstMs,
    warmup_mean_ms: result.warmupMeanMs,
    blocks_ms: result.blocksMs,
    repeats: result.repeats,
    latency_ms: latency,
    memory: null,
    metrics: result.metrics,
    reference: result.reference,
  };
}
