import assert from "node:assert/strict";
import { test } from "node:test";

import * as statistics from "../src/measure/statistics.js";
import { isNear, numbers } from "./numbers.js";

test("latencies are summarized as Python does", () => {
  assert.equal(numbers.statistics.length, 4);
  for (const { original, summary } of numbers.statistics) {
    const { mean, std, ...found } = statistics.summarize(original.flat());
    const { mean: expectedMean, std: expectedStd, ...expected } = summary;
    assert.deepEqual(found, expected); // to the last digit
    isNear(mean, expectedMean);
    isNear(std, expectedStd);
  }
});

test("ratios and their intervals are those of Python, to the last digit", () => {
  for (const { original, mobile, ratio } of numbers.statistics) {
    assert.deepEqual(statistics.ratioOfMedians(original, mobile), ratio);
  }
});

test("percentiles follow the definition", () => {
  // Eleven values: percentile q lies at position q / 10, counted from 0.
  const { p5, p50, p90 } = statistics.summarize([100, 0, 10, 90, 20, 80, 30, 70, 40, 60, 50]);
  assert.deepEqual([p5, p50, p90], [5, 50, 90]);
});

test("one latency has no spread", () => {
  assert.equal(statistics.summarize([7]).std, 0);
  assert.equal(statistics.summarize([7]).p99, 7);
});

test("blocks are drawn by SplitMix64", () => {
  // Its first number for the seed 0 is E220A8397B1DCDAF: 0.883 of 2^64.
  assert.equal(statistics.draw(0, 100)[0], 88);
});

test("the cosine of zeros", () => {
  const zeros = [Float32Array.of(0, 0)];
  assert.equal(statistics.cosine(zeros, zeros), 1);
  assert.equal(statistics.cosine(zeros, [Float32Array.of(0, 1)]), 0);
});

test("of equal outputs the first is the largest; NaN is a difference", () => {
  assert.equal(statistics.argmax([1, 3, 3, 2]), 1);
  assert.ok(Number.isNaN(statistics.difference([1, 2], [1, NaN])));
});
