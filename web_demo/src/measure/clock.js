/**
 * The browser's clock, which is coarse on purpose, by 0.005 to 1 ms: fine clocks help pages to spy.
 */

export const browserClock = {
  now: () => performance.now(),
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
};

/**
 * The step of a clock, ms: the smallest difference of two times that differ, within a duration in ms.
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
