/**
 * Turns pixels into a model's input, bit for bit as `hsvit_runtime` does it in Python: in floats of 32 bits,
 * mapped to the model's input range, then rounded to the levels of an integer input. Not timed.
 */

const INTEGERS = {
  int8: { array: Int8Array, low: -128, high: 127 },
  uint8: { array: Uint8Array, low: 0, high: 255 },
};

/**
 * The input of a model.
 *
 * @param {Uint8Array} pixels as many as the input has numbers
 * @param {object} input that of a model in `bundle.json`
 * @returns {Float32Array|Int8Array|Uint8Array}
 */
export function prepare(pixels, input) {
  const low = Math.fround(input.range[0]);
  const step = Math.fround((input.range[1] - input.range[0]) / 255);
  const values = Float32Array.from(pixels, (pixel) => low + Math.fround(pixel * step));
  if (input.dtype === "float32") {
    return values;
  }
  const { array, low: least, high: most } = INTEGERS[input.dtype];
  const scale = Math.fround(input.scale ?? 1);
  return array.from(values, (value) => {
    const level = roundedToEven(Math.fround(value / scale)) + (input.zero_point ?? 0);
    return Math.max(least, Math.min(most, level));
  });
}

/**
 * The numbers that an output stands for.
 *
 * @param {ArrayLike<number>} content what the model gave
 * @param {object} output that of a model in `bundle.json`
 * @returns {Float32Array}
 */
export function dequantize(content, output) {
  if (output.scale === null) {
    return Float32Array.from(content);
  }
  const scale = Math.fround(output.scale);
  return Float32Array.from(content, (level) => (level - output.zero_point) * scale);
}

function roundedToEven(value) {
  const below = Math.floor(value);
  if (value - below === 0.5) {
    return below % 2 === 0 ? below : below + 1;
  }
  return Math.round(value);
}
