/** Measures pair after pair, each in a worker of its own, and puts the report of the finished pairs together. */

import { assemble } from "./assemble.js";
import { warning } from "./warnings.js";

export class Session {
  #run;
  #startWorker;
  #state;
  #attention;
  #progress;
  #stop = null;
  #cancelled = null;

  /**
   * @param {object} run what is measured: `{base, site, bundle, pictures, settings, device, browser, litert}`
   * @param {object} tools
   * @param {function(): Worker} tools.startWorker
   * @param {function(): Promise<object>} tools.state the device's state, see `device.js`
   * @param {function(): Promise<number>} tools.attention waits until the page is shown; gives how often it was
   *     hidden
   * @param {function(number, string)} tools.progress receives a share from 0 to 1, and what is being measured
   */
  constructor(run, { startWorker, state, attention, progress }) {
    this.#run = run;
    this.#startWorker = startWorker;
    this.#state = state;
    this.#attention = attention;
    this.#progress = progress;
  }

  /**
   * Measures. If a pair cannot be measured, the others still are.
   *
   * @param {object[]} pairs of the bundle
   * @returns {Promise<{report: ?object, failures: object[]}>}
   */
  async measure(pairs) {
    const results = [];
    const failures = [];
    for (const [i, pair] of pairs.entries()) {
      if (this.#cancelled) {
        break;
      }
      try {
        const before = await this.#state();
        const result = await this.#measurePair(pair, (share) => this.#progress((i + share) / pairs.length, pair.name));
        results.push({ ...result, pair, before, after: await this.#state() });
      } catch (error) {
        if (!this.#cancelled) {
          failures.push(warning("failed", error.file ?? null, `pair ${pair.name} was not measured: ${error.message}`));
        }
      }
    }
    if (this.#cancelled) {
      const message = `stopped: ${this.#cancelled}; ${results.length} of ${pairs.length} pairs were measured`;
      failures.unshift(warning("stopped", null, message));
    }
    return { report: assemble({ ...this.#run, results, failures }), failures };
  }

  /** Ends at once; the finished pairs stay. */
  cancel(reason = "by the user") {
    this.#cancelled ??= reason;
    this.#stop?.(new Error(reason));
  }

  async #measurePair(pair, progress) {
    const { base, site, bundle, pictures, settings } = this.#run;
    const find = (file) => bundle.models.find((model) => model.file === file);
    const models = { original: find(pair.original), mobile: find(pair.mobile) };
    progress(0);
    const worker = this.#startWorker();
    try {
      return await new Promise((resolve, reject) => {
        this.#stop = reject;
        if (this.#cancelled) {
          reject(new Error(this.#cancelled));
        }
        worker.onerror = (event) => {
          event.preventDefault?.();
          reject(new Error(`the measuring program ended: ${event.message ?? "its file cannot be read"}`));
        };
        worker.onmessage = async ({ data }) => {
          if (data.kind === "progress") {
            progress(data.done / data.total);
          } else if (data.kind === "attention") {
            worker.postMessage({ kind: "shown", hidden: await this.#attention() });
          } else if (data.kind === "failed") {
            reject(Object.assign(new Error(data.message), { file: data.file }));
          } else if (data.kind === "measured") {
            resolve(data.result);
          }
        };
        worker.postMessage({ kind: "measure", base, site, bundle, pictures, models, settings });
      });
    } finally {
      worker.terminate();
      this.#stop = null;
    }
  }
}
