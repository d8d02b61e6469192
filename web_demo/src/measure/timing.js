/** Times one model, a block of samples at a time. Its inputs take turns. */

const STEPS = 50; // of the clock that a sample lasts at least, which makes its error at most 2 %
const TRIES = 3;
const MOST_RUNS = 10_000;

export class Timing {
  /** Milliseconds of the very first run. */
  firstMs = null;
  /** Every counted sample by block, ms; a sample is the mean of `repeats` runs. */
  blocksMs = [];
  repeats = 1;

  #runner;
  #inputs;
  #clock;
  #runs = 0;
  #warmupMs = 0;
  #warmups = 0;

  /**
   * @param {{run: function(*): Promise}} runner
   * @param {Array} inputs prepared pictures, at least one
   * @param {object} clock see `clock.js`
   */
  constructor(runner, inputs, clock) {
    this.#runner = runner;
    this.#inputs = inputs;
    this.#clock = clock;
  }

  async first() {
    this.firstMs = await this.#sample(1);
  }

  /** Runs that are not counted, for a time in ms: WebAssembly is compiled while it runs. */
  async warmUp(duration) {
    const start = this.#clock.now();
    let elapsed = 0;
    while (elapsed < duration) {
      await this.#run();
      this.#warmups++;
      elapsed = this.#clock.now() - start;
    }
    this.#warmupMs += elapsed;
  }

  /**
   * Chooses how many runs make a sample: as many as a clock with this step, ms, can time. The fastest of a few
   * samples decides, as others may have been interrupted.
   */
  async chooseRepeats(step) {
    for (this.repeats = 1; this.repeats < MOST_RUNS; this.repeats *= 2) {
      let fastest = Infinity;
      for (let i = 0; i < TRIES; i++) {
        fastest = Math.min(fastest, await this.#sample(this.repeats));
      }
      if (fastest * this.repeats >= STEPS * step) {
        break;
      }
    }
  }

  /** A block of `count` samples; it counts when it is put into `blocksMs`. */
  async block(warmupMs, count) {
    await this.warmUp(warmupMs);
    const samples = [];
    for (let i = 0; i < count; i++) {
      samples.push(await this.#sample(this.repeats));
    }
    return samples;
  }

  /** Mean of the warm-up runs, ms; null without any. */
  get warmupMeanMs() {
    return this.#warmups ? this.#warmupMs / this.#warmups : null;
  }

  /** Milliseconds of one run, rounded to 10 ns, and at least that. */
  async #sample(repeats) {
    const start = this.#clock.now();
    for (let i = 0; i < repeats; i++) {
      await this.#run();
    }
    return Math.max(1, Math.round((1e5 * (this.#clock.now() - start)) / repeats)) / 1e5;
  }

  #run() {
    return this.#runner.run(this.#inputs[this.#runs++ % this.#inputs.length]);
  }
}
