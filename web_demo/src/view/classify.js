/**
 * Shows what both models of a pair say of pictures, their classes or the boxes of objects, with the latency of
 * each: of the bundle's pictures, a file, or what the camera sees. Pictures stay in the browser.
 */

import { kept } from "../measure/detections.js";
import { argmax, median } from "../measure/statistics.js";
import { fit, gray, onWhite } from "../measure/resizing.js";
import { drawBoxes } from "./boxes.js";
import { byId, h } from "./dom.js";
import { milliseconds, percent } from "./numbers.js";

const TOP = 3;
const LEAST_SIDE = 512; // of a photo before it is resized exactly, pixels
const RECENT = 30; // latencies
const ROUNDING = 0.05; // the sum of probabilities in 8 bits

export class Classifying {
  #parts;
  #context;
  #worker = null;
  #waiting = null;
  #image = -1;
  #stream = null;
  #recent = [];

  /**
   * @param {object} context `{base, site, bundle, pictures, startWorker, settings}`; `settings` is a function
   */
  constructor(context) {
    this.#context = context;
    const ids = ["next-image", "photo", "camera", "picture", "video", "classes", "classify-note", "classify-pair"];
    this.#parts = Object.fromEntries(ids.map((id) => [id, byId(id)]));
    const { bundle } = context;
    const parts = this.#parts;
    parts.classes.classList.toggle("wide", bundle.detection !== null);
    parts["classify-pair"].append(...bundle.pairs.map(({ name }) => h("option", { value: name }, name)));
    parts["classify-pair"].addEventListener("change", () => this.#again());
    parts["next-image"].disabled = bundle.images.length === 0;
    parts["next-image"].addEventListener("click", () => this.#guarded(() => this.#nextImage()));
    parts.photo.addEventListener("change", () => this.#guarded(() => this.#photo()));
    parts.camera.disabled = !navigator.mediaDevices?.getUserMedia;
    parts.camera.addEventListener("click", () => this.#guarded(() => this.#camera()));
  }

  /** Ends the camera and the models, so that they do not disturb a measurement. */
  stop() {
    this.#stopCamera();
    this.#worker?.terminate();
    this.#worker = null;
    this.#waiting?.reject(new Error("stopped"));
    this.#waiting = null;
    this.#recent = [];
  }

  async #guarded(action) {
    this.#note("");
    try {
      await action();
    } catch (error) {
      this.#stopCamera();
      this.#note(error.message);
    }
  }

  #note(text) {
    this.#parts["classify-note"].textContent = text;
  }

  /** Another pair: the models are loaded anew, and run on the same image of the bundle. */
  #again() {
    this.stop();
    if (this.#image >= 0) {
      this.#guarded(() => this.#bundled());
    }
  }

  async #nextImage() {
    this.#stopCamera();
    this.#image = (this.#image + 1) % this.#context.pictures.length;
    await this.#bundled();
  }

  async #bundled() {
    const { bundle, pictures } = this.#context;
    const [, height, width, channels] = bundle.models[0].input.shape;
    const pixels = pictures[this.#image];
    this.#show({ height, width, channels, pixels });
    const { label } = bundle.images[this.#image];
    await this.#run(pixels);
    this.#note(label === null ? "" : `Its label: ${this.#className(label)}`);
  }

  async #photo() {
    this.#stopCamera();
    const [file] = this.#parts.photo.files;
    if (!file) {
      return;
    }
    let bitmap;
    try {
      bitmap = await createImageBitmap(file);
    } catch {
      throw new Error(`${file.name} is damaged, or no picture that this browser reads`);
    }
    await this.#classify(bitmap, bitmap.width, bitmap.height);
  }

  async #camera() {
    if (this.#stream) {
      this.#stopCamera();
      return;
    }
    const { video, camera } = this.#parts;
    const wanted = { video: { facingMode: "environment" } };
    this.#stream = await navigator.mediaDevices.getUserMedia(wanted).catch((error) => {
      throw new Error(`The camera cannot be used: ${error.message}`);
    });
    camera.setAttribute("aria-pressed", "true");
    video.srcObject = this.#stream;
    await video.play();
    const stream = this.#stream;
    while (this.#stream === stream) {
      await this.#classify(video, video.videoWidth, video.videoHeight);
      await new Promise(requestAnimationFrame);
    }
  }

  #stopCamera() {
    this.#stream?.getTracks().forEach((track) => track.stop());
    this.#stream = null;
    this.#parts.video.srcObject = null;
    this.#parts.camera.setAttribute("aria-pressed", "false");
  }

  /** Classifies what a canvas can draw. */
  async #classify(source, width, height) {
    const [, rows, columns, channels] = this.#context.bundle.models[0].input.shape;
    const scale = Math.min(1, Math.max(LEAST_SIDE, rows, columns) / Math.min(width, height));
    const canvas = new OffscreenCanvas(Math.round(width * scale), Math.round(height * scale));
    const drawing = canvas.getContext("2d", { willReadFrequently: true });
    drawing.drawImage(source, 0, 0, canvas.width, canvas.height);
    const colour = fit(onWhite(drawing.getImageData(0, 0, canvas.width, canvas.height)), rows, columns);
    const picture = channels === 3 ? colour : gray(colour);
    this.#show(picture);
    await this.#run(picture.pixels);
  }

  /** Shows the picture as the models see it. */
  #show({ height, width, channels, pixels }) {
    const data = new ImageData(width, height);
    for (let i = 0; i < height * width; i++) {
      for (let channel = 0; channel < 3; channel++) {
        data.data[4 * i + channel] = pixels[i * channels + (channels === 3 ? channel : 0)];
      }
      data.data[4 * i + 3] = 255;
    }
    const { picture } = this.#parts;
    Object.assign(picture, { width, height });
    picture.getContext("2d").putImageData(data, 0, 0);
    picture.hidden = this.#context.bundle.detection !== null; // boxes are drawn on pictures of their own
  }

  async #run(pixels) {
    const outputs = await this.#ask(pixels);
    this.#recent = [...this.#recent, outputs.map(({ milliseconds }) => milliseconds)].slice(-RECENT);
    const models = this.#models();
    this.#parts.classes.replaceChildren(
      ...models.map((model, i) =>
        h(
          "div",
          {},
          h("h3", {}, model.title),
          h("p", { class: "quiet" }, milliseconds(median(this.#recent.map((each) => each[i])))),
          ...this.#said(model, outputs[i].row),
        ),
      ),
    );
  }

  /** What a model says of the picture: boxes on it and a list of them, or the best classes. */
  #said(model, row) {
    const { detection } = this.#context.bundle;
    if (!detection) {
      return [h("ol", {}, ...this.#top(row))];
    }
    const found = kept(detection, model.outputs, row).map(({ box, ...one }) => ({
      box,
      index: one.class,
      text: `${this.#className(one.class)} ${percent(one.score)}`,
    }));
    const list = found.length
      ? h("ol", {}, ...found.map(({ text }) => h("li", {}, h("span", {}, text))))
      : h("p", {}, `Nothing of at least ${percent(detection.score_threshold)}`);
    return [drawBoxes(this.#parts.picture, found), list];
  }

  #models() {
    const { bundle } = this.#context;
    const chosen = this.#parts["classify-pair"].value;
    const { original, mobile } = bundle.pairs.find(({ name }) => name === chosen);
    return [original, mobile].map((file) => bundle.models.find((model) => model.file === file));
  }

  #top(output) {
    const found = probabilities(output);
    const best = [...found.keys()].sort((a, b) => found[b] - found[a]).slice(0, TOP);
    return best.map((i) => h("li", {}, h("span", {}, this.#className(i)), h("span", {}, percent(found[i]))));
  }

  #className(index) {
    return this.#context.bundle.class_names[index] ?? String(index);
  }

  /** The outputs of both models, from the worker that has them loaded. */
  async #ask(pixels) {
    if (!this.#worker) {
      const { base, site, startWorker, settings } = this.#context;
      const worker = startWorker();
      this.#worker = worker;
      worker.onmessage = ({ data }) => {
        if (data.kind === "failed") {
          this.#waiting?.reject(new Error(data.message));
          this.stop();
        } else {
          this.#waiting?.resolve(data.outputs);
        }
      };
      worker.onerror = (event) => this.#waiting?.reject(new Error(event.message ?? "the models cannot be run"));
      await this.#answer(() =>
        worker.postMessage({ kind: "classify", base, site, models: this.#models(), settings: settings() }),
      );
      this.#recent = [];
      await this.#answer(() => worker.postMessage({ kind: "picture", pixels })); // the first run is slower
    }
    return this.#answer(() => this.#worker.postMessage({ kind: "picture", pixels }));
  }

  #answer(ask) {
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject };
      ask();
    });
  }
}

/** Softmax, unless the outputs are probabilities already: then none is negative and their sum is 1. */
export function probabilities(output) {
  const values = [...output];
  const total = values.reduce((sum, value) => sum + value, 0);
  if (Math.abs(total - 1) <= ROUNDING && Math.min(...values) >= 0) {
    return values;
  }
  const largest = values[argmax(values)];
  const powers = values.map((value) => Math.exp(value - largest));
  const sum = powers.reduce((all, value) => all + value, 0);
  return powers.map((value) => value / sum);
}
