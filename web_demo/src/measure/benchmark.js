/**
 * Measures a pair of models side by side and checks their outputs.
 *
 * Each model runs in blocks, and blocks alternate: A B, B A, A B, ..., so that what disturbs one disturbs both.
 * A round of two blocks in which the page was hidden is measured again: browsers slow hidden pages down. After
 * that both run on all images of the bundle.
 */

import { agreement, check } from "./checks.js";
import { rowOf } from "./outputs.js";
import { prepare } from "./preparation.js";
import { Timing } from "./timing.js";

const TIMED_PICTURES = 8;
const FIRST_WARMUP = 10; // times as long as before each block
const MOST_REPEATED = 20; // rounds

/**
 * @param {object} bundle the content of `bundle.json`
 * @param {Uint8Array[]} pictures pixels of its images
 * @param {{original: object, mobile: object}} models two of its models
 * @param {{original: ?Float32Array[], mobile: ?Float32Array[]}} correct their correct outputs for each image
 * @param {{original: object, mobile: object}} runners their runners, see `runtime/litert.js`
 * @param {object} settings `{blocks, runs, warmupMs, cooldownMs}`
 * @param {object} clock see `clock.js`
 * @param {number} step of the clock, ms
 * @param {function(): Promise<number>} attention waits until the page is shown; gives how often it was hidden
 * @param {function(number, number)} progress receives blocks done and blocks in all
 */
export async function measurePair({
  bundle,
  pictures,
  models,
  correct,
  runners,
  settings,
  clock,
  step,
  attention,
  progress = () => {},
}) {
  const sides = ["original", "mobile"];
  const inputs = sides.map((side) => pictures.map((pixels) => prepare(pixels, models[side].input)));
  const timings = sides.map((side, i) => new Timing(runners[side], timed(inputs[i], models[side].input), clock));
  const repeatedRounds = await time(timings, { settings, step, clock, attention, progress });
  const outputs = [];
  for (const [i, side] of sides.entries()) {
    outputs.push(await outputsOf(runners[side], inputs[i], models[side].outputs));
  }
  const results = sides.map((side, i) => ({
    model: models[side],
    facts: runners[side].facts,
    firstMs: timings[i].firstMs,
    warmupMeanMs: timings[i].warmupMeanMs,
    blocksMs: timings[i].blocksMs,
    repeats: timings[i].repeats,
    ...check(bundle, models[side], outputs[i], correct[side]),
  }));
  return {
    original: results[0],
    mobile: results[1],
    agreement: agreement(bundle, models.original.outputs, ...outputs),
    resolutionMs: step,
    repeatedRounds,
  };
}

/** The inputs of timed runs: some pictures, or grey where there are none. */
function timed(inputs, input) {
  const size = input.shape.reduce((product, length) => product * length, 1);
  return inputs.length ? inputs.slice(0, TIMED_PICTURES) : [prepare(new Uint8Array(size).fill(128), input)];
}

/** Fills the blocks of both; gives how many rounds were measured again. */
async function time(timings, { settings, step, clock, attention, progress }) {
  for (const timing of timings) {
    await timing.first();
    await timing.warmUp(FIRST_WARMUP * settings.warmupMs);
    await timing.chooseRepeats(step);
  }
  let repeated = 0;
  for (let block = 0; block < settings.blocks; ) {
    const hidden = await attention();
    const round = [];
    for (const i of block % 2 === 0 ? [0, 1] : [1, 0]) {
      await clock.sleep(settings.cooldownMs);
      round[i] = await timings[i].block(settings.warmupMs, settings.runs);
    }
    if ((await attention()) === hidden) {
      timings.forEach((timing, i) => timing.blocksMs.push(round[i]));
      progress(2 * ++block, 2 * settings.blocks);
    } else if (++repeated > MOST_REPEATED) {
      throw new Error(`the page was hidden in ${repeated} rounds: keep it on the screen while it measures`);
    }
  }
  return repeated;
}

async function outputsOf(runner, inputs, tensors) {
  const rows = [];
  for (const input of inputs) {
    rows.push(rowOf(await runner.run(input), tensors));
  }
  return rows;
}
