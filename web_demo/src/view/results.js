/** The page of results: the overview picture, and for each pair what was measured, in words and numbers. */

import { drift, latencies } from "./charts.js";
import { h } from "./dom.js";
import { integer, measured, milliseconds, number, percent, ratio, size, step } from "./numbers.js";

/**
 * Shows a report.
 *
 * @param {Element} place whose content is replaced
 * @param {object} report
 * @param {object[]} failures warnings of the run, which come first
 */
export function showResults(place, report, failures) {
  const told = failures.map(({ message }) => h("p", { class: "alarm" }, message));
  if (report === null) {
    place.replaceChildren(...told, h("p", {}, "Nothing was measured."));
    return;
  }
  const find = (name) => report.models.find((model) => model.name === name);
  const warnings = report.warnings.filter(({ code }) => !["failed", "stopped"].includes(code));
  place.replaceChildren(
    ...told,
    setup(report),
    figure(latencies(report.models), "Dots: single samples. Bar: 5th to 95th percentile. Mark: median. What is far beyond the medians is cut off."),
    ...report.pairs.map((pair) => pairSection(report, pair, find(pair.original), find(pair.mobile))),
    figure(drift(report.models), "Medians of the blocks, over that of all of them, in the colours of above. A line that climbs: the device became slower, as a hot one does."),
    h("h3", {}, "What limits these numbers"),
    warnings.length
      ? h("ul", { class: "warnings" }, ...warnings.map(({ model, message }) => h("li", {}, model ? `${model}: ${message}` : message)))
      : h("p", { class: "quiet" }, "No warnings."),
  );
}

function setup({ device, models, settings, runtime }) {
  const { accelerator, threads } = models[0];
  const used = threads.used ? `${threads.used} ${threads.used > 1 ? "threads" : "thread"}` : "GPU";
  const parts = [
    device.name,
    `LiteRT.js ${runtime.packages["@litertjs/core"]}`,
    accelerator.delegate,
    used,
    `${integer(settings.blocks)} blocks of ${integer(settings.runs)}`,
    `clock steps ${step(device.clock_resolution_ms)}`,
  ];
  return h("p", { class: "quiet" }, parts.join(" · "));
}

function figure(drawn, caption) {
  return h("figure", {}, drawn, h("figcaption", {}, caption));
}

function pairSection(report, pair, original, mobile) {
  const wrong = wrongModels(report).filter((name) => [original.name, mobile.name].includes(name));
  return h(
    "section",
    { class: "pair" },
    h("h3", {}, `${mobile.name} against ${original.name}`),
    wrong.length
      ? h("p", { class: "alarm" }, `${wrong.join(", ")} computes WRONG OUTPUTS here: its speed means nothing.`)
      : null,
    h("p", { class: "ratio" }, ratioWords(pair.ratio)),
    table(report, original, mobile),
    agreementWords(report.task, pair.agreement),
  );
}

/** Names of the models whose outputs are known to be wrong. */
function wrongModels({ warnings }) {
  return warnings.filter(({ code }) => ["wrong_answers", "not_finite"].includes(code)).map(({ model }) => model);
}

function ratioWords({ value, low, high, confidence }) {
  const interval = low === null ? "" : `, ${percent(confidence)} interval ${ratio(low)} to ${ratio(high)}`;
  return `Time ratio ${ratio(value)}${interval}`;
}

function table(report, original, mobile) {
  const { task } = report;
  const wrong = wrongModels(report);
  const rows = [
    ["Median", (model) => milliseconds(model.latency_ms.p50)],
    ["90 % are below", (model) => milliseconds(model.latency_ms.p90)],
    ["99 % are below", (model) => milliseconds(model.latency_ms.p99)],
    ["First run", (model) => milliseconds(model.first_inference_ms)],
    ["Loading", (model) => milliseconds(model.init_ms)],
    ["Size", (model) => size(model.bytes)],
    ...(task.metric ? [[task.metric.title, (model) => measured(task.metric, model.metrics)]] : []),
    ["Outputs", (model) => (wrong.includes(model.name) ? "WRONG" : model.reference ? "correct" : "not checked")],
  ];
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, h("td", {}), h("th", { scope: "col" }, "Original"), h("th", { scope: "col" }, "Mobile"))),
    h(
      "tbody",
      {},
      ...rows.map(([name, value]) =>
        h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value(original)), h("td", {}, value(mobile))),
      ),
    ),
  );
}

function agreementWords(task, agreement) {
  if (agreement === null) {
    return h("p", { class: "quiet" }, "The outputs could not be compared.");
  }
  const parts = [`Outputs on ${integer(agreement.samples)} images`];
  if (task.agreement) {
    parts.push(`${task.agreement.title.toLowerCase()} ${measured(task.agreement, agreement)}`);
  }
  parts.push(`largest difference ${number(agreement.max_abs_diff)}`);
  return h("p", { class: "quiet" }, parts.join(", "));
}
