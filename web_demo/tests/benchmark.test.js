import assert from "node:assert/strict";
import { test } from "node:test";

import { measurePair } from "../src/measure/benchmark.js";
import { compare } from "../src/measure/checks.js";
import { resolution } from "../src/measure/clock.js";
import { Timing } from "../src/measure/timing.js";
import { fakeBundle, FakeClock, fakeRunner } from "./fakes.js";

const SETTINGS = { blocks: 3, runs: 2, warmupMs: 4, cooldownMs: 1 };

function measured(changes = {}) {
  const clock = changes.clock ?? new FakeClock(0.001);
  const order = [];
  const { bundle, pictures, models, correct } = fakeBundle();
  const runners = {
    original: fakeRunner(clock, 2, [0.5, 0.25, 0.25], () => order.push("A")),
    mobile: fakeRunner(clock, 1, [0.5, 0.25, 0.25], () => order.push("B")),
  };
  const attention = async () => 0;
  const run = { bundle, pictures, models, correct, runners, settings: SETTINGS, clock, step: 0.001, attention, ...changes };
  return { order, result: measurePair(run) };
}

test("blocks alternate: A B, B A, A B, after warm-ups by time", async () => {
  const { order, result } = measured();
  const { original, mobile } = await result;
  // First runs, warm-ups of 40 ms, and three tries; then in each block 4 ms of warm-up and 2 runs; then both images.
  const block = { A: "AAAA", B: "BBBBBB" };
  const expected = ["A".repeat(1 + 20 + 3), "B".repeat(1 + 40 + 3)];
  expected.push(block.A, block.B, block.B, block.A, block.A, block.B, "AA", "BB");
  assert.equal(order.join(""), expected.join(""));
  assert.deepEqual(original.blocksMs, [[2, 2], [2, 2], [2, 2]]);
  assert.deepEqual(mobile.blocksMs, [[1, 1], [1, 1], [1, 1]]);
  assert.equal(original.warmupMeanMs, 2);
  assert.equal(original.firstMs, 2);
});

test("with a coarse clock a sample is the mean of many runs", async () => {
  const { result } = measured({ clock: new FakeClock(1), step: 1 });
  const { original, mobile, resolutionMs } = await result;
  assert.equal(resolutionMs, 1);
  assert.equal(original.repeats, 32); // the first power of two that lasts 50 steps of 1 ms
  assert.equal(mobile.repeats, 64);
  assert.deepEqual(original.blocksMs[0], [2, 2]);
});

test("rounds in which the page was hidden are measured again", async () => {
  // Shown, then hidden in the first round; from then on shown.
  const answers = [0, 1];
  const { order, result } = measured({ attention: async () => answers.shift() ?? 1 });
  const { original, repeatedRounds } = await result;
  assert.equal(repeatedRounds, 1);
  assert.equal(original.blocksMs.length, SETTINGS.blocks);
  assert.equal(order.filter((side) => side === "A").length, 24 + 4 * 4 + 2);
});

test("a page that is always hidden ends the measurement", async () => {
  let hidden = 0;
  const { result } = measured({ attention: async () => hidden++ });
  await assert.rejects(result, /keep it on the screen/);
});

const rows = (...arrays) => arrays.map((array) => Float32Array.from(array));

/** A model of outputs by name, each with the number of its numbers and the limit of its differences. */
function modelOf(outputs) {
  const entries = Object.entries(outputs);
  return {
    outputs: entries.map(([name, [count]]) => ({ name, shape: [1, count], scale: null })),
    reference: { outputs: entries.map(([name, [, limit]]) => ({ name, max_abs_diff: limit })), runtime: "Keras 3" },
  };
}

test("outputs are compared with the reference", () => {
  const found = (...given) =>
    compare({ detection: null }, modelOf({ scores: [2, 0.5] }), rows(...given), rows([1, 2], [3, 4]));
  assert.equal(found([1, 2.5], [3, 4]).right, true);
  const wrong = found([1, 2.75], [3, NaN]);
  assert.deepEqual(
    [wrong.right, wrong.wrong_samples, wrong.max_abs_diff],
    [false, 2, null],
  );
  assert.equal(found([1, 2], [5, 4]).max_abs_diff, 2);
});

test("each output has a limit of its own, and the one that is furthest off is told", () => {
  const model = modelOf({ boxes: [2, 0.125], logits: [1, 1] });
  const found = (row) => compare({ detection: null }, model, rows(row), rows([0, 0, 0]));
  const { right, max_abs_diff: largest, limit } = found([0.0625, 0, -0.75]);
  assert.deepEqual([right, largest, limit], [true, 0.75, 1]);
  const wrong = found([0, 0.25, 0.75]);
  assert.deepEqual([wrong.right, wrong.max_abs_diff, wrong.limit], [false, 0.25, 0.125]);
});

test("where boxes may change places, those that are kept have to be the same", () => {
  const model = modelOf({ classes: [2, null], location: [8, null], score: [2, 0.01] });
  model.outputs[1].shape = [1, 2, 4];
  const detection = { scores: "score", boxes: "location", classes: "classes", box_format: "top_left_bottom_right" };
  const rule = { ...detection, score_threshold: 0.5, score_margin: 0.05, same_box_iou: 0.75 };
  const [one, other] = [[0, 0, 0.5, 0.5], [0.5, 0.5, 1, 1]];
  const found = (row) => compare({ detection: rule }, model, rows(row), rows([3, 4, ...one, ...other, 0.9, 0.9])).right;
  assert.equal(found([4, 3, ...other, ...one, 0.9, 0.9]), true);
  assert.equal(found([4, 3, ...one, ...other, 0.9, 0.9]), false);
  assert.equal(found([3, 4, ...one, ...other, 0.9, 0.5]), false);
});

test("the step of a clock is measured", () => {
  assert.equal(resolution(new FakeClock(0.005, 0.001)), 0.005);
  assert.equal(resolution(new FakeClock(1, 0.01)), 1);
});

test("single interrupted runs do not make samples too short", async () => {
  const clock = new FakeClock(1);
  let runs = 0;
  const run = async () => clock.advance(++runs % 5 === 0 ? 500 : 2);
  const timing = new Timing({ run }, [null], clock);
  await timing.warmUp(5000);
  assert.ok(timing.warmupMeanMs > 50);
  await timing.chooseRepeats(1);
  assert.ok(timing.repeats > 1);
});
