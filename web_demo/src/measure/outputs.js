/**
 * The outputs of a model as one row of numbers, as a bundle's file of correct outputs has them: all outputs
 * dequantized, one behind the other.
 */

import { dequantize } from "./preparation.js";

/**
 * Where each output stands in a row.
 *
 * @param {object[]} tensors the `outputs` of a model in `bundle.json`
 * @returns {{name: string, start: number, end: number, shape: number[]}[]}
 */
export function partsOf(tensors) {
  let end = 0;
  return tensors.map(({ name, shape }) => {
    const start = end;
    end += shape.reduce((product, length) => product * length, 1);
    return { name, start, end, shape };
  });
}

/** A part of a row. */
export function partOf(row, { start, end }) {
  return row.subarray(start, end);
}

/**
 * The row of what a model gave.
 *
 * @param {ArrayLike<number>[]} contents one for each output
 * @param {object[]} tensors the `outputs` of the model in `bundle.json`
 * @returns {Float32Array}
 */
export function rowOf(contents, tensors) {
  const parts = partsOf(tensors);
  const row = new Float32Array(parts.at(-1).end);
  parts.forEach(({ start }, i) => row.set(dequantize(contents[i], tensors[i]), start));
  return row;
}

/**
 * The rows of a file of correct outputs.
 *
 * @param {Uint8Array} content of the file, numbers of 32 bits, little-endian
 * @param {object[]} tensors the `outputs` of the model in `bundle.json`
 * @returns {Float32Array[]} one for each image
 */
export function readRows(content, tensors) {
  const size = partsOf(tensors).at(-1).end;
  const numbers = new Float32Array(content.slice().buffer); // WebAssembly's machines are little-endian
  return Array.from({ length: numbers.length / size }, (_, i) => numbers.subarray(i * size, (i + 1) * size));
}
