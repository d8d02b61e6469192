/** Drawings of a report: latencies side by side, and how they changed while measuring. */

import { median } from "../measure/statistics.js";
import { svg } from "./dom.js";
import { milliseconds } from "./numbers.js";

const WIDTH = 360;
const ROW = 46;
const EDGE = 8;
const BELOW = 36; // for the axis
const SERIES = 6; // colours
const MOST = 4; // times the largest median, where the drawing of latencies ends
const DRIFT = [0.5, 2]; // where the drawing of drift ends, and what is beyond is drawn at its edge

/** One row a model: its samples as dots, a bar from p5 to p95, a mark at the median. */
export function latencies(models) {
  const most = MOST * Math.max(...models.map(({ latency_ms }) => latency_ms.p50));
  const scale = axis(Math.min(most, Math.max(...models.map(({ latency_ms }) => latency_ms.p95))));
  const rows = models.map((model, row) => {
    const { p5, p50, p95 } = model.latency_ms;
    const y = row * ROW + 30;
    const samples = model.blocks_ms.flat().filter((value) => value <= scale.high);
    const dots = samples.map((value, i) =>
      svg("circle", { cx: scale.at(value), cy: y + 4 + ((i * 7) % 9), r: 1.2, class: "dot" }),
    );
    return svg(
      "g",
      { class: `series${row % SERIES}` },
      svg("text", { x: EDGE, y: y - 10 }, `${model.name}  ${milliseconds(p50)}`),
      ...dots,
      svg("line", { x1: scale.at(p5), x2: scale.at(Math.min(p95, scale.high)), y1: y, y2: y, class: "bar" }),
      svg("circle", { cx: scale.at(p50), cy: y, r: 4, class: "mark" }),
    );
  });
  const height = models.length * ROW + BELOW;
  const told = models.map(({ name, latency_ms }) => `${name} ${milliseconds(latency_ms.p50)}`).join(", ");
  return drawing(height, `Median latency: ${told}`, [...scale.draw(height - BELOW, "latency, ms"), ...rows]);
}

/** Medians of the blocks in the order of time, over that of all: where a line climbs, the device slowed down. */
export function drift(models) {
  const lines = models.map(({ blocks_ms }) => {
    const medians = blocks_ms.map(median);
    const middle = median(medians);
    return medians.map((value) => Math.max(DRIFT[0], Math.min(DRIFT[1], value / middle)));
  });
  const most = Math.max(1.25, ...lines.flat());
  const least = Math.min(0.75, ...lines.flat());
  const height = 150;
  const bottom = height - BELOW;
  const x = (i, count) => EDGE + 34 + (i / Math.max(1, count - 1)) * (WIDTH - 2 * EDGE - 34);
  const y = (value) => 10 + (1 - (value - least) / (most - least)) * (bottom - 10);
  const marks = [least, 1, most].map((value) => [
    svg("line", { x1: EDGE + 34, x2: WIDTH - EDGE, y1: y(value), y2: y(value), class: "grid" }),
    svg("text", { x: EDGE + 30, y: y(value) + 4, class: "right small" }, `${Math.round(100 * value)} %`),
  ]);
  const paths = lines.map((line, row) => {
    const points = line.map((value, i) => `${x(i, line.length).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
    return svg("polyline", { points, class: `line series${row % SERIES}` });
  });
  const ends = lines.map((line, row) => `${models[row].name} ${Math.round(100 * line.at(-1))} %`).join(", ");
  return drawing(height, `Median of the last block, over that of all blocks: ${ends}`, [
    ...marks.flat(),
    ...paths,
    svg("text", { x: WIDTH - EDGE, y: height - 12, class: "right small" }, "blocks in the order of time →"),
  ]);
}

function drawing(height, description, parts) {
  return svg("svg", { viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": description }, ...parts);
}

/** A linear axis from 0 that holds a value. */
function axis(most) {
  const step = niceStep(most / 4);
  const high = step * Math.ceil((1.05 * most) / step);
  const at = (value) => EDGE + (value / high) * (WIDTH - 2 * EDGE);
  return {
    high,
    at,
    draw: (bottom, title) => [
      ...Array.from({ length: Math.round(high / step) + 1 }, (_, i) => [
        svg("line", { x1: at(i * step), x2: at(i * step), y1: 6, y2: bottom, class: "grid" }),
        svg(
          "text",
          { x: at(i * step), y: bottom + 14, class: i === 0 ? "small" : i * step === high ? "right small" : "middle small" },
          String(Number((i * step).toPrecision(6))),
        ),
      ]).flat(),
      svg("text", { x: WIDTH - EDGE, y: bottom + 30, class: "right small" }, title),
    ],
  };
}

function niceStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
}
