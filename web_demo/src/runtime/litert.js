/**
 * Runs models by LiteRT.js, and finds out what really runs them.
 *
 * The runtime comes as four WebAssembly programs. Which one is loaded, and how many threads the model was given,
 * is observed and not only asked for: LiteRT.js falls back from WebGPU to WebAssembly with no more than a
 * message on the console.
 */

import { loadAndCompile, loadLiteRt, Tensor } from "@litertjs/core";

const PROGRAMS = {
  threaded: "litert_wasm_threaded_internal",
  jspi: "litert_wasm_jspi_internal",
  simple: "litert_wasm_internal",
  compatible: "litert_wasm_compat_internal",
};

const RUN = 2; // what these programs tell a worker that shall run as a thread

/** Which of the programs runs the settings on a browser with these features. */
export function programFor({ accelerator, threads }, features) {
  if (!features.relaxedSimd) {
    return PROGRAMS.compatible;
  }
  if (accelerator === "webgpu") {
    return features.jspi ? PROGRAMS.jspi : PROGRAMS.simple;
  }
  return threads > 1 && features.threads > 1 ? PROGRAMS.threaded : PROGRAMS.simple;
}

/** The files of all programs that a browser with these features may load. */
export function filesFor(features) {
  const settings = [
    { accelerator: "wasm", threads: 1 },
    { accelerator: "wasm", threads: features.threads },
    ...(features.gpu ? [{ accelerator: "webgpu", threads: 1 }] : []),
  ];
  const programs = new Set(settings.map((each) => programFor(each, features)));
  return [...programs].flatMap((program) => [`wasm/${program}.js`, `wasm/${program}.wasm`]);
}

/**
 * The runtime within a worker; once for each worker.
 *
 * @param {URL|string} site address of the site's folder
 * @param {{accelerator: "wasm"|"webgpu", threads: number}} settings
 * @param {object} features see `features.js`
 */
export async function loadRuntime(site, settings, features) {
  const program = programFor(settings, features);
  const folder = new URL("wasm/", site);
  const startedThreads = countThreads();
  // Read by LiteRT.js' loader; without it, the program would look for its files beside the worker's script.
  self.Module = {
    locateFile: (name) => new URL(name, folder).href,
    mainScriptUrlOrBlob: new URL(`${program}.js`, folder).href,
  };
  await loadLiteRt(new URL(`${program}.js`, folder).href);
  return new Runtime(settings, features, program, startedThreads);
}

/** How many threads were started so far: a function that tells. A program's threads are workers told to run. */
function countThreads() {
  let count = 0;
  const postMessage = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    count += message?.cmd === RUN ? 1 : 0;
    return postMessage.call(this, message, ...rest);
  };
  return () => count;
}

class Runtime {
  #settings;
  #features;
  #program;
  #startedThreads;

  constructor(settings, features, program, startedThreads) {
    this.#settings = settings;
    this.#features = features;
    this.#program = program;
    this.#startedThreads = startedThreads;
  }

  /**
   * Loads a model.
   *
   * @param {Uint8Array} content of its file
   * @param {object} model what `bundle.json` says of it
   * @param {object} clock
   */
  async open(content, model, clock) {
    const { accelerator, threads } = this.#settings;
    const before = this.#startedThreads();
    const start = clock.now();
    const compiled = await loadAndCompile(content, { accelerator, cpuOptions: { numThreads: threads } });
    const initMs = clock.now() - start;
    const used = compiled.options.accelerator;
    const order = orderOf(compiled.getOutputDetails(), model.outputs);
    checkTensors(compiled, model, order);
    return new Runner(compiled, model, order, {
      initMs,
      threadsUsed: 1 + this.#startedThreads() - before,
      used: used === "webgpu" ? "gpu" : "cpu",
      delegate: this.#delegate(used, compiled.isFullyAccelerated),
      emulated: used === "webgpu" && this.#features.gpu.emulated,
      partly: used === "webgpu" && !compiled.isFullyAccelerated,
      program: this.#program,
    });
  }

  #delegate(used, fully) {
    if (used === "webgpu") {
      return `WebGPU on ${this.#features.gpu.name}${fully ? "" : ", partly WebAssembly"}`;
    }
    return `XNNPACK, ${this.#features.relaxedSimd ? "relaxed SIMD" : "SIMD"}`;
  }
}

/** Where each output of `bundle.json`, which are in the file's order, is among those of the signature. */
function orderOf(found, expected) {
  const places = expected.map(({ name }) => found.findIndex((tensor) => tensor.name === name));
  return places.includes(-1) ? [...found.keys()] : places; // a signature may have other names
}

function checkTensors(compiled, model, order) {
  const outputs = compiled.getOutputDetails();
  for (const [kind, found, expected] of [
    ["input", compiled.getInputDetails(), [model.input]],
    ["output", order.map((place) => outputs[place]), model.outputs],
  ]) {
    const told = (tensors) => tensors.map(({ dtype, shape }) => `${dtype} [${[...shape]}]`).join(", ");
    if (told(found) !== told(expected)) {
      throw new Error(`its ${kind} is ${told(found)}, but bundle.json says ${told(expected)}`);
    }
  }
}

class Runner {
  /** What runs the model. */
  facts;

  #compiled;
  #shape;
  #order;

  constructor(compiled, model, order, facts) {
    this.#compiled = compiled;
    this.#shape = model.input.shape;
    this.#order = order;
    this.facts = facts;
  }

  /**
   * Runs the model once. This is what is timed: setting the input, running, getting the outputs.
   *
   * @param {Float32Array|Uint8Array} input
   * @returns {Promise<ArrayLike<number>[]>} one for each output
   */
  async run(input) {
    const tensor = new Tensor(input, this.#shape);
    const outputs = await this.#compiled.run(tensor);
    const contents = [];
    for (const place of this.#order) {
      contents.push(await outputs[place].data());
    }
    [tensor, ...outputs].forEach((each) => each.delete());
    return contents;
  }

  close() {
    this.#compiled.delete();
  }
}
