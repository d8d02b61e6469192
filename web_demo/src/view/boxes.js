/** A picture with the boxes of objects and their names. */

import { h } from "./dom.js";

const LEAST_WIDTH = 640; // pixels of the drawing, which is about twice as fine as it is shown
// Widths of a line and of a letter as shares of the drawing's.
const LINE = 1 / 160;
const FONT = 1 / 25;
// One after the other for the classes, as in the host's pictures; black letters are read on all of them.
const COLOURS = ["#4f9fd8", "#ff7f0e", "#4fb84f", "#f0716f", "#b08bd6", "#b98a7c", "#e377c2", "#a0a0a0", "#bcbd22", "#17becf"];

/**
 * @param {HTMLCanvasElement} picture
 * @param {{box: number[], index: number, text: string}[]} found boxes as shares of the picture, the best first
 * @returns {HTMLCanvasElement} the picture, larger and with the boxes
 */
export function drawBoxes(picture, found) {
  const scale = Math.max(1, Math.ceil(LEAST_WIDTH / picture.width));
  const canvas = h("canvas", {
    class: "boxes",
    width: scale * picture.width,
    height: scale * picture.height,
    role: "img",
    "aria-label": `The picture with ${described(found)}`,
  });
  const drawing = canvas.getContext("2d");
  drawing.imageSmoothingEnabled = false;
  drawing.drawImage(picture, 0, 0, canvas.width, canvas.height);
  drawing.font = `${Math.round(FONT * canvas.width)}px system-ui, sans-serif`;
  drawing.textBaseline = "top";
  for (const one of [...found].reverse()) {
    drawBox(drawing, one); // the best last, on top
  }
  return canvas;
}

function described(found) {
  if (!found.length) {
    return "no boxes";
  }
  return `${found.length} ${found.length > 1 ? "boxes" : "box"}: ${found.map(({ text }) => text).join(", ")}`;
}

function drawBox(drawing, { box, index, text }) {
  const { width, height } = drawing.canvas;
  const [stroke, letters] = [LINE * width, FONT * width];
  const [left, top, right, bottom] = box.map((share, i) => share * (i % 2 ? height : width));
  drawing.strokeStyle = drawing.fillStyle = COLOURS[index % COLOURS.length];
  drawing.lineWidth = stroke;
  drawing.strokeRect(left, top, right - left, bottom - top);
  // The name stands above the box, within the picture.
  const room = drawing.measureText(text).width + 2 * stroke;
  const x = Math.max(0, Math.min(left - stroke / 2, width - room));
  const y = Math.max(0, Math.min(top - letters - stroke, height - letters - stroke));
  drawing.fillRect(x, y, room, letters + stroke);
  drawing.fillStyle = "#000000";
  drawing.fillText(text, x + stroke, y + stroke);
}
