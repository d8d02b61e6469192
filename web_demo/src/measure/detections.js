/**
 * From a detector's outputs to boxes, and whether two models keep the same boxes: by the rule of the bundle, as
 * `hsvit_keras/tasks/detections.py` and `kept_detections.py` do it, and the Android app in `Detections.java`.
 *
 * A detection is `{ class, score, box }`, the box being left, top, right and bottom as shares of the image.
 */

import { partOf, partsOf } from "./outputs.js";

/**
 * The detections of an image that are kept, or nearly, the best first. Those of lower scores change nothing.
 *
 * @param {object} rule the `detection` of `bundle.json`
 * @param {object[]} tensors the `outputs` of a model in `bundle.json`
 * @param {Float32Array} row its outputs, see `outputs.js`
 */
export function detect(rule, tensors, row) {
  const parts = Object.fromEntries(partsOf(tensors).map((part) => [part.name, part]));
  const [given, boxes] = [rule.scores, rule.boxes].map((name) => partOf(row, parts[name]));
  const scoreOf = rule.classes === null ? (i) => 1 / (1 + Math.exp(-given[i])) : (i) => given[i];
  const near = [...given.keys()].filter((i) => scoreOf(i) >= rule.score_threshold - rule.score_margin);
  if (rule.classes !== null) {
    const classes = partOf(row, parts[rule.classes]);
    return near.map((i) => ({ class: Math.round(classes[i]), score: scoreOf(i), box: boxOf(rule, boxes, i) }));
  }
  const count = parts[rule.scores].shape.at(-1);
  const best = near.sort((a, b) => given[b] - given[a]).slice(0, rule.candidates);
  const found = best.map((i) => ({ class: i % count, score: scoreOf(i), box: boxOf(rule, boxes, Math.floor(i / count)) }));
  return (rule.suppression_iou === null ? found : suppressed(found, rule.suppression_iou)).slice(0, rule.most);
}

/** The detections of an image that are shown, the best first. */
export function kept(rule, tensors, row) {
  return detect(rule, tensors, row).filter(({ score }) => score >= rule.score_threshold);
}

function boxOf({ box_format: format }, boxes, i) {
  const [a, b, c, d] = boxes.subarray(4 * i, 4 * i + 4);
  return format === "center_size" ? [a - c / 2, b - d / 2, a + c / 2, b + d / 2] : [b, a, d, c];
}

/** Of boxes of one class that overlap by more, the best alone. */
function suppressed(found, most) {
  const staying = [];
  for (const one of found) {
    if (!staying.some((better) => better.class === one.class && iou(better.box, one.box) > most)) {
      staying.push(one);
    }
  }
  return staying;
}

/** Intersection over union; 0 where both boxes have no area. */
export function iou(one, other) {
  const area = ([left, top, right, bottom]) => Math.max(0, right - left) * Math.max(0, bottom - top);
  const common = area([0, 1, 2, 3].map((i) => (i < 2 ? Math.max : Math.min)(one[i], other[i])));
  const union = area(one) + area(other) - common;
  return union > 0 ? common / union : 0;
}

/**
 * How many detections of an image two models share, which are paired by class and overlap.
 *
 * @param {object} rule
 * @param {object[]} ours detections of the original, see `detect`
 * @param {object[]} theirs of the other model
 * @returns {{both: number, alike: number, either: number}} how many both keep; how many both keep, or only one of
 *     them where the original is near the threshold; how many either keeps
 */
export function shared(rule, ours, theirs) {
  const { score_threshold: threshold, score_margin: margin } = rule;
  const pairs = paired(ours, theirs, rule.same_box_iou);
  const isKept = ({ score }) => score >= threshold;
  const both = pairs.filter((pair) => pair.every(isKept)).length;
  const lost = ours.filter((one) => isKept(one) && !pairs.some(([a, b]) => a === one && isKept(b)));
  const gained = theirs.filter((one) => isKept(one) && !pairs.some(([a, b]) => b === one && isKept(a)));
  const nearlyKept = lost.filter(({ score }) => score < threshold + margin).length;
  const nearlyLost = gained.filter((one) => pairs.some(([, b]) => b === one)).length;
  return { both, alike: both + nearlyKept + nearlyLost, either: both + lost.length + gained.length };
}

/** Pairs of detections of one class, the boxes that overlap most first, each once. */
function paired(ours, theirs, least) {
  const overlaps = ours.flatMap((a) => theirs.map((b) => ({ a, b, overlap: a.class === b.class ? iou(a.box, b.box) : 0 })));
  const pairs = [];
  for (const { a, b, overlap } of overlaps.sort((one, other) => other.overlap - one.overlap)) {
    if (overlap >= least && !pairs.some((pair) => pair[0] === a || pair[1] === b)) {
      pairs.push([a, b]);
    }
  }
  return pairs;
}
