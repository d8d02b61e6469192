/**
 * Statistics of latencies and of outputs, as Python computes them in `measuring` and `hsvit_keras/tasks`, and
 * the Android app in `Statistics.java`. Equal latencies give percentiles and ratios equal to the last digit.
 */

const CONFIDENCE = 0.95;
const RESAMPLES = 2000;
const PERCENTILES = [5, 50, 90, 95, 99];

/**
 * A summary of latencies: the `latency_ms` of a benchmark report.
 *
 * @param {number[]} latencies not empty, ms
 */
export function summarize(latencies) {
  const sorted = ascending(latencies);
  const count = sorted.length;
  const mean = sum(sorted) / count;
  const squares = sum(sorted.map((value) => (value - mean) ** 2));
  return {
    count,
    ...Object.fromEntries(PERCENTILES.map((q) => [`p${q}`, percentile(sorted, q)])),
    min: sorted[0],
    mean,
    max: sorted[count - 1],
    std: count > 1 ? Math.sqrt(squares / (count - 1)) : 0,
  };
}

/**
 * A percentile: of n sorted values it lies at position `q / 100 * (n - 1)`, counted from 0, with linear
 * interpolation. Written as NumPy computes it, so that rounding is the same.
 *
 * @param {ArrayLike<number>} sorted
 * @param {number} q 0 to 100
 */
export function percentile(sorted, q) {
  const position = (sorted.length - 1) * (q / 100);
  const below = Math.floor(position);
  const low = sorted[below];
  const high = sorted[Math.min(below + 1, sorted.length - 1)];
  const part = position - below;
  return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

/** The median of unsorted values. */
export function median(values) {
  const sorted = ascending(values);
  return (sorted[(sorted.length - 1) >> 1] + sorted[sorted.length >> 1]) / 2;
}

/**
 * Median latency of `mobile` over that of `original`, with a bootstrap interval over paired blocks: block i of
 * both was measured side by side, so what disturbed one mostly disturbed the other.
 *
 * @param {number[][]} original blocks of latencies, ms
 * @param {number[][]} mobile as many blocks
 */
export function ratioOfMedians(original, mobile) {
  const count = original.length;
  const ratio = (drawn) => {
    const [ofMobile, ofOriginal] = [mobile, original].map((side) => median(drawn.flatMap((i) => side[i])));
    return ofMobile / ofOriginal;
  };
  const result = {
    value: ratio([...original.keys()]),
    low: null,
    high: null,
    confidence: CONFIDENCE,
  };
  if (count > 1) {
    const ratios = ascending(Array.from({ length: RESAMPLES }, (_, resample) => ratio(draw(resample, count))));
    const tail = 50 * (1 - CONFIDENCE);
    result.low = percentile(ratios, tail);
    result.high = percentile(ratios, 100 - tail);
  }
  return result;
}

/** One set of blocks drawn with replacement; the same in every run, in Python and in the app. */
export function draw(resample, count) {
  return Array.from({ length: count }, (_, i) => {
    const bits = random(BigInt(resample * count + i)) >> 32n;
    return Number((bits * BigInt(count)) >> 32n);
  });
}

/** Number n, counted from 0, of the generator SplitMix64 (Steele, Lea, Flood 2014) with the seed 0. */
function random(n) {
  let bits = BigInt.asUintN(64, (n + 1n) * 0x9e3779b97f4a7c15n);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 30n)) * 0xbf58476d1ce4e5b9n);
  bits = BigInt.asUintN(64, (bits ^ (bits >> 27n)) * 0x94d049bb133111ebn);
  return bits ^ (bits >> 31n);
}

/** Cosine similarity of two lists of vectors, all as one; 1 where both are zeros. */
export function cosine(expected, outputs) {
  let product = 0;
  const squares = [0, 0];
  expected.forEach((theirs, image) => {
    const ours = outputs[image];
    for (let i = 0; i < theirs.length; i++) {
      product += theirs[i] * ours[i];
      squares[0] += theirs[i] ** 2;
      squares[1] += ours[i] ** 2;
    }
  });
  const lengths = Math.sqrt(squares[0]) * Math.sqrt(squares[1]);
  return lengths > 0 ? product / lengths : squares[0] === squares[1] ? 1 : 0;
}

/** Largest difference of two numbers at the same place; NaN if one of them is. */
export function difference(expected, output) {
  let largest = 0;
  for (let i = 0; i < expected.length; i++) {
    largest = Math.max(largest, Math.abs(expected[i] - output[i]));
  }
  return largest;
}

/** Position of the largest value, the first of equal ones. */
export function argmax(values) {
  let best = 0;
  for (let i = 1; i < values.length; i++) {
    if (values[i] > values[best]) {
      best = i;
    }
  }
  return best;
}

export function isFinite(output) {
  return output.every(Number.isFinite);
}

function ascending(values) {
  return Float64Array.from(values).sort();
}

function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
