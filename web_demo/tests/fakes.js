/** A clock, models and runners whose times are known. */

/** A clock that shows its time in steps. */
export class FakeClock {
  #time = 0;
  #step;
  #look;

  /**
   * @param {number} step ms
   * @param {number} look how long looking at it takes, ms
   */
  constructor(step, look = 0) {
    this.#step = step;
    this.#look = look;
  }

  now() {
    this.#time += this.#look;
    return Math.floor(this.#time / this.#step + 1e-6) * this.#step;
  }

  advance(milliseconds) {
    this.#time += milliseconds;
  }

  async sleep(milliseconds) {
    this.advance(milliseconds);
  }
}

/** A runner whose runs take a time. */
export function fakeRunner(clock, milliseconds, output, onRun = () => {}) {
  return {
    facts: {
      initMs: 5,
      threadsUsed: 1,
      used: "cpu",
      delegate: "XNNPACK, relaxed SIMD",
      emulated: false,
      partly: false,
      program: "litert_wasm_internal",
    },
    run: async () => {
      onRun();
      clock.advance(milliseconds);
      return [Float32Array.from(output)];
    },
  };
}

/** A bundle of two images and two models with three classes. */
export function fakeBundle() {
  const tensor = { name: "image", shape: [1, 2, 2, 1], dtype: "float32", scale: null, zero_point: null };
  const model = (file) => ({
    file,
    title: file,
    preset: null,
    bytes: 1000,
    sha256: "0".repeat(64),
    input: { ...tensor, range: [0, 255] },
    outputs: [{ ...tensor, name: "scores", shape: [1, 3] }],
    reference: { outputs: [{ name: "scores", offset: 0, shape: [3], max_abs_diff: 0.01 }], runtime: "Keras 3.15" },
    metrics: {},
  });
  const right = Float32Array.of(0.5, 0.25, 0.25);
  const measure = (name, title) => ({ name, title, higher_is_better: true, is_share: true });
  const models = { original: model("original.tflite"), mobile: model("int8.tflite") };
  return {
    bundle: {
      task: {
        name: "classification",
        metric: measure("accuracy", "Accuracy"),
        agreement: measure("top1_agreement", "Same class"),
      },
      detection: null,
      name: "tiny",
      class_names: ["a", "b", "c"],
      images: [
        { file: "0.png", label: 0 },
        { file: "1.png", label: 1 },
      ],
      pairs: [{ name: "int8", original: "original.tflite", mobile: "int8.tflite" }],
      models: Object.values(models),
    },
    pictures: [new Uint8Array(4), new Uint8Array(4)],
    models,
    correct: { original: [right, right], mobile: [right, right] },
  };
}

/** What a worker posts at the end of a pair. */
export function measuredPair() {
  const { models } = fakeBundle();
  const side = (model, milliseconds) => ({
    model,
    facts: { ...fakeRunner(null, 0, []).facts },
    firstMs: 3,
    warmupMeanMs: milliseconds,
    blocksMs: [
      [milliseconds, 1.1 * milliseconds],
      [milliseconds, 1.2 * milliseconds],
    ],
    repeats: 1,
    notFinite: 0,
    samples: 2,
    reference: { right: true, samples: 2, wrong_samples: 0, max_abs_diff: 0, limit: 0.01, runtime: "Keras 3.15" },
    metrics: { accuracy: 0.5 },
  });
  return {
    kind: "measured",
    result: {
      original: side(models.original, 2),
      mobile: side(models.mobile, 1),
      agreement: { samples: 2, max_abs_diff: 0, cosine: 1, top1_agreement: 1 },
      resolutionMs: 0.005,
      repeatedRounds: 0,
    },
  };
}

/** A worker that answers its task with messages, or breaks down. */
export class FakeWorker {
  ended = false;

  constructor(replies, breakdown = null) {
    this.replies = replies;
    this.breakdown = breakdown;
  }

  postMessage() {
    setTimeout(() => {
      this.replies.forEach((data) => this.onmessage({ data }));
      if (this.breakdown) {
        this.onerror({ message: this.breakdown });
      }
    });
  }

  terminate() {
    this.ended = true;
  }
}

/** What a session measures. */
export function fakeRun(changes = {}) {
  const { bundle, pictures } = fakeBundle();
  return {
    base: "https://example.org/",
    site: {},
    bundle,
    pictures,
    settings: { accelerator: "wasm", threads: 1, blocks: 2, runs: 2, warmupMs: 50, cooldownMs: 100, ...changes },
    device: {
      name: "Pixel 8",
      cpu: { name: null, architecture: "arm 64", logical_cores: 8, features: null },
      os: { name: "Android", version: "15", api_level: null },
      memory_bytes: null,
      other_load_cores: null,
    },
    browser: "Google Chrome 156",
    litert: "2.5.3",
  };
}

export function fakeTools(startWorker, progress = () => {}) {
  const state = async () => ({
    time: "2026-01-02T03:04:05.678Z",
    load_average: null,
    thermal_status: null,
    thermal_headroom: null,
    battery_percent: 80,
    charging: false,
    power_save: null,
  });
  return { startWorker, state, attention: async () => 0, progress };
}
