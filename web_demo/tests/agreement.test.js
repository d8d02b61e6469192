import assert from "node:assert/strict";
import { test } from "node:test";

import { agreement } from "../src/measure/checks.js";
import { iou, kept } from "../src/measure/detections.js";
import { readRows, rowOf } from "../src/measure/outputs.js";
import { isNear, numbers } from "./numbers.js";

const rowsOf = (table) => table.map((row) => Float32Array.from(row));
const FLOAT = 1e-6; // Python computes scores and boxes in 32 bits

test("the agreement of classes is that of Python", () => {
  const { expected, outputs, agreement: right } = numbers.agreement;
  for (const name of ["classification", "video_classification"]) {
    const bundle = { task: { name, agreement: { name: "top1_agreement" } }, detection: null };
    const tensors = [{ name: "logits", shape: [1, 5] }];
    const { cosine, ...found } = agreement(bundle, tensors, rowsOf(expected), rowsOf(outputs));
    const { cosine: rightCosine, ...others } = right;
    assert.deepEqual(found, others);
    isNear(cosine, rightCosine);
  }
});

test("boxes that are kept, and the agreement of detectors, are those of Python", () => {
  assert.equal(numbers.detections.length, 3);
  for (const { rule, outputs, rows, kept: boxes, agreement: right } of numbers.detections) {
    const [expected, others] = rows.map(rowsOf);
    expected.forEach((row, image) => {
      const found = kept(rule, outputs, row);
      assert.deepEqual(found.map((one) => one.class), boxes[image].map((one) => one.class));
      found.forEach(({ score, box }, i) => {
        assert.ok(Math.abs(score - boxes[image][i].score) < FLOAT);
        box.forEach((side, j) => assert.ok(Math.abs(side - boxes[image][i].box[j]) < FLOAT));
      });
    });
    const bundle = { task: { name: "detection", agreement: { name: "detection_agreement" } }, detection: rule };
    const { cosine, ...found } = agreement(bundle, outputs, expected, others);
    const { cosine: rightCosine, ...rest } = right;
    assert.deepEqual(found, rest);
    isNear(cosine, rightCosine);
  }
});

test("outputs that are no numbers are not compared; without boxes two detectors agree", () => {
  const [{ rule, outputs, rows }] = numbers.detections;
  const bundle = { task: { name: "detection", agreement: { name: "a" } }, detection: rule };
  const nothing = rowsOf(rows[0]).map((row) => row.fill(-9, 120)); // the logits
  assert.equal(agreement(bundle, outputs, nothing, nothing).a, 1);
  assert.equal(agreement(bundle, outputs, nothing, [Float32Array.of(NaN)]), null);
  assert.equal(agreement(bundle, outputs, [], []), null);
});

test("overlaps by their definition", () => {
  assert.equal(iou([0, 0, 2, 1], [1, 0, 3, 1]), 1 / 3);
  assert.equal(iou([0, 0, 1, 1], [2, 2, 3, 3]), 0);
  assert.equal(iou([1, 1, 1, 1], [1, 1, 1, 1]), 0);
});

test("a row holds all outputs, dequantized, one behind the other", () => {
  const tensors = [
    { name: "a", shape: [1, 2], scale: 0.5, zero_point: 3 },
    { name: "b", shape: [1, 1, 1], scale: null, zero_point: null },
  ];
  assert.deepEqual([...rowOf([[3, 5], [7]], tensors)], [0, 1, 7]);
  const file = new Uint8Array(25).subarray(1); // which begins anywhere in its buffer
  [1, 2, 3, 4, 5, 6].forEach((value, i) => new DataView(file.buffer).setFloat32(1 + 4 * i, value, true));
  assert.deepEqual(readRows(file, tensors).map((row) => [...row]), [[1, 2, 3], [4, 5, 6]]);
});
