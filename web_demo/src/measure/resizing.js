/**
 * Resizes pictures bilinearly with antialiasing, bit for bit as Pillow does in training:
 * `ImageOps.fit(image, size, BILINEAR)`.
 *
 * A picture is `{ height, width, channels, pixels }`. A new pixel is a mean of the pixels that it covers, with
 * the weights of a triangle filter; first along rows, then along columns, in fixed point with 22 bits.
 */

const BITS = 22;

/** Crops the largest centred part with the aspect of the new size, and resizes it. */
export function fit(picture, height, width) {
  const aspect = width / height;
  const cropWidth = Math.min(picture.width, aspect * picture.height);
  const cropHeight = Math.min(picture.height, picture.width / aspect);
  const left = (picture.width - cropWidth) * 0.5;
  const top = (picture.height - cropHeight) * 0.5;
  const columns = allWeights(picture.width, left, left + cropWidth, width);
  const rows = allWeights(picture.height, top, top + cropHeight, height);
  return alongColumns(alongRows(picture, columns), rows);
}

/** ITU-R 601-2 luma in the fixed point of Pillow: gray does not change. */
export function gray(picture) {
  const pixels = new Uint8Array(picture.height * picture.width);
  for (let i = 0; i < pixels.length; i++) {
    const [red, green, blue] = picture.pixels.subarray(3 * i, 3 * i + 3);
    pixels[i] = (19595 * red + 38470 * green + 7471 * blue + (1 << 15)) >> 16;
  }
  return { ...picture, channels: 1, pixels };
}

/** A picture of red, green and blue on a white background, from a canvas' `ImageData`. */
export function onWhite({ width, height, data }) {
  const pixels = new Uint8Array(3 * width * height);
  for (let i = 0; i < width * height; i++) {
    const alpha = data[4 * i + 3];
    for (let channel = 0; channel < 3; channel++) {
      const value = data[4 * i + channel];
      pixels[3 * i + channel] = (value * alpha + 255 * (255 - alpha) + 127) / 255;
    }
  }
  return { height, width, channels: 3, pixels };
}

function alongRows({ height, width, channels, pixels }, weights) {
  const resized = new Uint8Array(height * weights.length * channels);
  let at = 0;
  for (let y = 0; y < height; y++) {
    for (const weight of weights) {
      for (let channel = 0; channel < channels; channel++) {
        resized[at++] = mean(pixels, (y * width + weight.first) * channels + channel, channels, weight);
      }
    }
  }
  return { height, width: weights.length, channels, pixels: resized };
}

function alongColumns({ width, channels, pixels }, weights) {
  const row = width * channels;
  const resized = new Uint8Array(weights.length * row);
  let at = 0;
  for (const weight of weights) {
    for (let x = 0; x < row; x++) {
      resized[at++] = mean(pixels, weight.first * row + x, row, weight);
    }
  }
  return { height: weights.length, width, channels, pixels: resized };
}

/** For each new pixel the first pixel of the line that it is computed from, and the weights of these. */
function allWeights(count, from, to, size) {
  const start = Math.fround(from);
  const scale = Math.fround(Math.fround(to) - start) / size;
  const support = Math.max(1, scale);
  return Array.from({ length: size }, (_, i) => {
    const center = start + (i + 0.5) * scale;
    const first = Math.max(0, Math.trunc(center - support + 0.5));
    const end = Math.min(count, Math.trunc(center + support + 0.5));
    return { first, weights: triangle(first - center + 0.5, end - first, 1 / support) };
  });
}

function triangle(start, count, step) {
  const values = Array.from({ length: count }, (_, i) => Math.max(0, 1 - Math.abs((start + i) * step)));
  const whole = values.reduce((sum, value) => sum + value, 0);
  return values.map((value) => Math.trunc(0.5 + (value / whole) * (1 << BITS)));
}

function mean(pixels, start, stride, { weights }) {
  let sum = 1 << (BITS - 1);
  for (let i = 0; i < weights.length; i++) {
    sum += weights[i] * pixels[start + i * stride];
  }
  return Math.min(255, sum >> BITS);
}
