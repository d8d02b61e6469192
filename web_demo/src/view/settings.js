/** The form: which pairs to measure, and how. */

import { h } from "./dom.js";
import { percent, size } from "./numbers.js";

const NUMBERS = { blocks: [1, 1000], runs: [1, 10_000], warmup: [0, 10_000], cooldown: [0, 600_000] };

/** Fills the form with the bundle's pairs and what this browser offers. */
export function fillForm(form, bundle, features) {
  const find = (file) => bundle.models.find((model) => model.file === file);
  form.querySelector("#pairs").append(
    ...bundle.pairs.map((pair) => {
      const [original, mobile] = [find(pair.original), find(pair.mobile)];
      const facts = `${size(mobile.bytes)}, ${percent(mobile.bytes / original.bytes)} of the ${original.title}`;
      return h(
        "label",
        { class: "choice" },
        h("input", { type: "checkbox", name: "pair", value: pair.name, checked: true }),
        h("span", {}, h("strong", {}, mobile.title), h("span", { class: "quiet" }, facts)),
      );
    }),
  );
  const { threads, accelerator } = form.elements;
  const most = Math.max(1, features.threads);
  threads.append(...Array.from({ length: most }, (_, i) => h("option", { value: i + 1 }, String(i + 1))));
  accelerator.querySelector("[value=webgpu]").disabled = !features.gpu;
  accelerator.addEventListener("change", () => (threads.disabled = accelerator.value === "webgpu"));
}

/** Sets fields from the page's address, as in `?pairs=int8&blocks=5`; gives whether it says `run`. */
export function fillFromAddress(form, search) {
  const given = new URLSearchParams(search);
  for (const name of ["accelerator", "threads", ...Object.keys(NUMBERS)]) {
    if (given.has(name)) {
      form.elements[name].value = given.get(name);
    }
  }
  if (given.has("pairs")) {
    const names = given.get("pairs").split(",");
    boxes(form).forEach((box) => (box.checked = names.includes(box.value)));
  }
  form.elements.accelerator.dispatchEvent(new Event("change"));
  return given.has("run");
}

/** The names of the chosen pairs. */
export function chosenPairs(form) {
  return boxes(form)
    .filter((box) => box.checked)
    .map((box) => box.value);
}

/**
 * The settings of a run, as the form has them.
 *
 * @throws {Error} a field holds no number within its limits; the message names it
 */
export function readSettings(form) {
  const numbers = {};
  for (const [name, [least, most]] of Object.entries(NUMBERS)) {
    const field = form.elements[name];
    const value = Number(field.value);
    if (field.value.trim() === "" || !Number.isInteger(value) || value < least || value > most) {
      const label = field.labels[0].firstChild.textContent.trim();
      throw Object.assign(new Error(`${label} must be a whole number from ${least} to ${most}`), { field });
    }
    numbers[name] = value;
  }
  const accelerator = form.elements.accelerator.value;
  return {
    accelerator,
    threads: accelerator === "webgpu" ? 1 : Number(form.elements.threads.value),
    blocks: numbers.blocks,
    runs: numbers.runs,
    warmupMs: numbers.warmup,
    cooldownMs: numbers.cooldown,
  };
}

function boxes(form) {
  return [...form.querySelectorAll("[name=pair]")];
}
