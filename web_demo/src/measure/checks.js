/** Compares outputs with their reference, with the labels, and with those of another model. */

import * as statistics from "./statistics.js";

/**
 * What the outputs of a model on the bundle's images are worth.
 *
 * @param {object} bundle the content of `bundle.json`
 * @param {object} model one of its models
 * @param {Float32Array[]} outputs one for each image
 */
export function check(bundle, model, outputs) {
  return {
    notFinite: outputs.filter((output) => !statistics.isFinite(output)).length,
    samples: outputs.length,
    reference: model.reference && outputs.length ? compare(model.reference, outputs) : null,
    metrics: metrics(bundle, outputs),
  };
}

/** The `reference` of a model in a benchmark report. */
export function compare(reference, outputs) {
  // A float of 32 bits is what the reference was before it was written as decimal digits.
  const differences = outputs.map((output, i) =>
    statistics.difference(Float32Array.from(reference.outputs[i]), output),
  );
  const wrong = differences.filter((difference) => !(difference <= reference.max_abs_diff)).length; // NaN is wrong
  const largest = differences.reduce((most, difference) => Math.max(most, difference), 0); // NaN stays
  return {
    right: wrong === 0,
    samples: outputs.length,
    wrong_samples: wrong,
    max_abs_diff: Number.isFinite(largest) ? largest : null,
    limit: reference.max_abs_diff,
    runtime: reference.runtime,
  };
}

/** The `agreement` of a pair in a benchmark report; null without images, and where a number is not finite. */
export function agreement(task, expected, outputs) {
  if (!expected.length || ![...expected, ...outputs].every(statistics.isFinite)) {
    return null;
  }
  const { sameClass, ...numbers } = statistics.agreement(expected, outputs, isClassification(task));
  return sameClass !== null && task.agreement ? { ...numbers, [task.agreement.name]: sameClass } : numbers;
}

export function isClassification(task) {
  return task.name === "classification";
}

/** The task's metric on the labelled images; empty without labels, and for tasks without classes. */
function metrics({ task, images }, outputs) {
  const labelled = [...images.entries()].filter(([, image]) => image.label !== null);
  if (!isClassification(task) || !task.metric || !labelled.length || !outputs.length) {
    return {};
  }
  const correct = labelled.filter(
    ([i, { label }]) => statistics.isFinite(outputs[i]) && statistics.argmax(outputs[i]) === label,
  );
  return { [task.metric.name]: correct.length / labelled.length };
}
