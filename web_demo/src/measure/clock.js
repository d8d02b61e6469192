/**
 * The browser's clock, which is coarse on purpose: 0.005 to 1 ms, so that pages cannot spy on each other.
 *
 * A run that takes few of its steps cannot be timed alone: several are timed together.
 */

const STEPS = 50; // a sample lasts at least so many steps, which makes its error at most 2 %
const MOST_RUNS = 10_000;

export const browserClock = {
  now: () => performance.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/**
 * The step of a clock, ms: the smallest difference of two times that differ, within a few milliseconds.
 *
 * @param {{now: function(): number}} clock
 */
export function resolution(clock, duration = 20) {
  let smallest = Infinity;
  const start = clock.now();
  for (let last = start; smallest === Infinity || last - start < duration; ) {
    const now = clock.now();
    if (now > last) {
      smallest = Math.min(smallest, now - last);
    }
    last = now;
  }
  return Math.round(smallest * 1e6) / 1e6;
}

/** How many runs to time together, from the time that one takes and the step of the clock, both in ms. */
export function repetitions(runMs, step) {
  return Math.max(1, Math.min(MOST_RUNS, Math.ceil((STEPS * step) / Math.max(runMs, step / MOST_RUNS))));
}
