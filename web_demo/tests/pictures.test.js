import assert from "node:assert/strict";
import { test } from "node:test";

import { dequantize, prepare } from "../src/measure/preparation.js";
import { fit, gray, onWhite } from "../src/measure/resizing.js";
import { numbers } from "./numbers.js";

test("inputs are prepared bit for bit as Python does", () => {
  const pixels = Uint8Array.from({ length: 256 }, (_, i) => i);
  for (const { input, prepared } of numbers.preparation) {
    const found = prepare(pixels, input);
    const bits = found instanceof Float32Array ? new Int32Array(found.buffer) : found;
    assert.deepEqual([...bits], prepared, JSON.stringify(input));
  }
});

test("outputs are dequantized", () => {
  assert.deepEqual([...dequantize([0, 3, 255], { scale: 0.5, zero_point: 3 })], [-1.5, 0, 126]);
  assert.deepEqual([...dequantize([1, 2], { scale: null, zero_point: null })], [1, 2]);
});

test("pictures are resized bit for bit as Pillow does", () => {
  for (const { shape, pixels, wanted, resized } of numbers.resizing) {
    const [height, width, channels] = shape;
    // As from a canvas: always red, green, blue and opaque.
    const data = new Uint8ClampedArray(4 * height * width).fill(255);
    for (let i = 0; i < height * width; i++) {
      for (let channel = 0; channel < 3; channel++) {
        data[4 * i + channel] = pixels[i * channels + (channels === 3 ? channel : 0)];
      }
    }
    const colour = fit(onWhite({ height, width, data }), wanted[0], wanted[1]);
    const picture = wanted[2] === 3 ? colour : gray(colour);
    assert.deepEqual([...picture.pixels], resized, `${shape} to ${wanted}`);
  }
});

test("what is transparent is white", () => {
  const { pixels } = onWhite({ height: 1, width: 2, data: [9, 9, 9, 0, 0, 100, 200, 128] });
  assert.deepEqual([...pixels], [255, 255, 255, 127, 177, 227]);
});
