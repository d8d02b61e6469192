/** Compares outputs with their reference, with the labels, and with those of another model. */

import { detect, shared } from "./detections.js";
import { partOf, partsOf } from "./outputs.js";
import * as statistics from "./statistics.js";

/**
 * What the outputs of a model on the bundle's images are worth.
 *
 * @param {object} bundle the content of `bundle.json`
 * @param {object} model one of its models
 * @param {Float32Array[]} rows its outputs for each image, see `outputs.js`
 * @param {?Float32Array[]} correct the correct ones; null where they are not known
 */
export function check(bundle, model, rows, correct) {
  return {
    notFinite: rows.filter((row) => !statistics.isFinite(row)).length,
    samples: rows.length,
    reference: correct && rows.length ? compare(bundle, model, rows, correct) : null,
    metrics: metrics(bundle, rows),
  };
}

/** The `reference` of a model in a benchmark report: of several outputs, the one that is furthest off. */
export function compare({ detection }, { outputs, reference }, rows, correct) {
  const limits = reference.outputs.map(({ max_abs_diff: limit }) => limit);
  const parts = partsOf(outputs);
  const compared = [...parts.keys()].filter((i) => limits[i] !== null);
  const largest = parts.map(() => 0);
  let wrong = 0;
  rows.forEach((row, image) => {
    const differences = parts.map((part) => statistics.difference(partOf(correct[image], part), partOf(row, part)));
    differences.forEach((difference, i) => (largest[i] = Math.max(largest[i], difference))); // NaN stays
    const isNear = compared.every((i) => differences[i] <= limits[i]); // NaN is not
    wrong += isNear && (compared.length === parts.length || areAlike(detection, outputs, correct[image], row)) ? 0 : 1;
  });
  const worst = compared.reduce((most, i) => (excess(largest[i], limits[i]) > excess(largest[most], limits[most]) ? i : most));
  return {
    right: wrong === 0,
    samples: rows.length,
    wrong_samples: wrong,
    max_abs_diff: Number.isFinite(largest[worst]) ? largest[worst] : null,
    limit: limits[worst],
    runtime: reference.runtime,
  };
}

/** How many times the limit a difference is; not finite counts as infinite. */
function excess(difference, limit) {
  return Number.isFinite(difference) ? difference / (limit || Number.MIN_VALUE) : Infinity;
}

function areAlike(rule, tensors, ...rows) {
  const { alike, either } = shared(rule, ...rows.map((row) => detect(rule, tensors, row)));
  return alike === either;
}

/**
 * The `agreement` of a pair in a benchmark report; null without images, and where a number is not finite.
 *
 * @param {object} bundle the content of `bundle.json`
 * @param {object[]} tensors the `outputs` of both models
 * @param {Float32Array[]} expected the original's outputs for each image
 * @param {Float32Array[]} rows the mobile model's
 */
export function agreement({ task, detection }, tensors, expected, rows) {
  if (!expected.length || ![...expected, ...rows].every(statistics.isFinite)) {
    return null;
  }
  // Where boxes are chosen inside of the file, those of nearly equal scores change places, and scores alone do not.
  const isCompared = ({ name }) => !detection?.classes || name === detection.scores;
  const parts = partsOf(tensors)
    .filter(isCompared)
    .map((part) => [expected, rows].map((side) => side.map((row) => partOf(row, part))));
  const numbers = {
    samples: expected.length,
    max_abs_diff: Math.max(...parts.flatMap(([one, other]) => one.map((row, i) => statistics.difference(row, other[i])))),
    cosine: Math.min(...parts.map(([one, other]) => statistics.cosine(one, other))),
  };
  const said = saysTheSame(task, detection, tensors, expected, rows);
  return said !== null && task.agreement ? { ...numbers, [task.agreement.name]: said } : numbers;
}

/** The share of classes or boxes that both models say; null where outputs are neither. */
function saysTheSame(task, rule, tensors, expected, rows) {
  if (hasClasses(task)) {
    const same = expected.filter((row, i) => statistics.argmax(row) === statistics.argmax(rows[i]));
    return same.length / expected.length;
  }
  if (!rule) {
    return null;
  }
  const counts = expected.map((row, i) => shared(rule, ...[row, rows[i]].map((each) => detect(rule, tensors, each))));
  const [both, either] = ["both", "either"].map((name) => counts.reduce((sum, count) => sum + count[name], 0));
  return either ? both / either : 1;
}

/** Whether outputs are one number for each class, of images or of clips. */
export function hasClasses({ name }) {
  return name === "classification" || name === "video_classification";
}

/** The task's metric on the labelled images; empty without labels, and for tasks without classes. */
function metrics({ task, images }, outputs) {
  const labelled = [...images.entries()].filter(([, image]) => image.label !== null);
  if (!hasClasses(task) || !task.metric || !labelled.length || !outputs.length) {
    return {};
  }
  const correct = labelled.filter(
    ([i, { label }]) => statistics.isFinite(outputs[i]) && statistics.argmax(outputs[i]) === label,
  );
  return { [task.metric.name]: correct.length / labelled.length };
}
