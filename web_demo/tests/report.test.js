import assert from "node:assert/strict";
import { test } from "node:test";

import { browser, describe } from "../src/report/device.js";
import { Session } from "../src/report/session.js";
import { drift } from "../src/report/warnings.js";
import { FakeWorker, fakeRun, fakeTools, measuredPair } from "./fakes.js";

const PAIRS = ["int8", "dynamic"].map((name) => ({ name, original: "original.tflite", mobile: "int8.tflite" }));
const codes = (report) => report.warnings.map(({ code }) => code);

test("pairs are measured one after the other, each by a worker of its own", async () => {
  const workers = [];
  const startWorker = () => workers.at(workers.push(new FakeWorker([measuredPair()])) - 1);
  const shares = [];
  const session = new Session(fakeRun(), fakeTools(startWorker, (share, name) => shares.push([share, name])));
  const { report, failures } = await session.measure(PAIRS);
  assert.deepEqual(failures, []);
  assert.deepEqual(
    report.models.map(({ name }) => name),
    ["original.tflite", "int8.tflite", "original.tflite (2)", "int8.tflite (2)"],
  );
  assert.deepEqual(shares, [[0, "int8"], [0.5, "dynamic"]]);
  assert.deepEqual(workers.map(({ ended }) => ended), [true, true]);
});

test("what one pair breaks, the next does not feel", async () => {
  const replies = [{ kind: "failed", file: "int8.tflite", message: "int8.tflite: is damaged" }, measuredPair()];
  const session = new Session(fakeRun(), fakeTools(() => new FakeWorker([replies.shift()])));
  const { report } = await session.measure(PAIRS);
  assert.equal(report.pairs.length, 1);
  assert.deepEqual(report.warnings[0], {
    code: "failed",
    model: "int8.tflite",
    message: "pair int8 was not measured: int8.tflite: is damaged",
  });
});

test("a worker that breaks down is told of", async () => {
  const session = new Session(fakeRun(), fakeTools(() => new FakeWorker([], "out of memory")));
  const { report, failures } = await session.measure(PAIRS.slice(0, 1));
  assert.equal(report, null);
  assert.match(failures[0].message, /out of memory/);
});

test("cancelling ends at once and keeps the finished pairs", async () => {
  const workers = [new FakeWorker([measuredPair()]), new FakeWorker([])];
  const session = new Session(fakeRun(), fakeTools(() => {
    const worker = workers.shift();
    if (!workers.length) {
      setTimeout(() => session.cancel(), 5);
    }
    return worker;
  }));
  const { report } = await session.measure(PAIRS);
  assert.equal(report.pairs.length, 1);
  assert.equal(report.warnings[0].message, "stopped: by the user; 1 of 2 pairs were measured");
});

test("silent fall-backs are told of", async () => {
  const warned = async (facts, settings) => {
    const reply = measuredPair();
    Object.assign(reply.result.mobile.facts, facts);
    const session = new Session(fakeRun(settings), fakeTools(() => new FakeWorker([reply])));
    const { report } = await session.measure(PAIRS.slice(0, 1));
    return [codes(report), report.models[1]];
  };
  const webgpu = { accelerator: "webgpu", threads: 1 };
  const [fallback, model] = await warned({ used: "cpu" }, webgpu);
  assert.ok(fallback.includes("fallback"));
  assert.deepEqual([model.accelerator.requested, model.accelerator.used], ["gpu", "cpu"]);
  assert.ok((await warned({ used: "gpu", partly: true }, webgpu))[0].includes("fallback"));
  assert.ok((await warned({ used: "gpu", emulated: true }, webgpu))[0].includes("fallback"));
  const [threads] = await warned({ threadsUsed: 1 }, { accelerator: "wasm", threads: 4 });
  assert.ok(threads.includes("threads"));
  const [right] = await warned({ threadsUsed: 1 }, { accelerator: "wasm", threads: 1 });
  assert.ok(!right.includes("threads") && !right.includes("fallback"));
});

test("a coarse clock, a hidden page and a hot device are told of", async () => {
  const reply = measuredPair();
  reply.result.repeatedRounds = 2;
  reply.result.resolutionMs = 1;
  reply.result.mobile.repeats = 50;
  reply.result.mobile.blocksMs = Array.from({ length: 9 }, (_, i) => [1 + i / 10, 1 + i / 10]);
  reply.result.original.blocksMs = Array.from({ length: 9 }, () => [2, 2]);
  const session = new Session(fakeRun(), fakeTools(() => new FakeWorker([reply])));
  const { report } = await session.measure(PAIRS.slice(0, 1));
  assert.deepEqual(codes(report), ["few_runs", "few_runs", "clock", "drift", "hidden"]);
  assert.equal(report.device.clock_resolution_ms, 1);
});

test("drift compares the last third of the blocks with the first", () => {
  assert.equal(drift([[1], [1], [5], [5], [2], [2]]), 2);
  assert.equal(drift([[1], [2]]), null);
});

test("browsers are told by what they say of themselves", () => {
  const agents = {
    "Safari 17.4": "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605 Version/17.4 Mobile/15E Safari/604",
    "Firefox 153": "Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0",
  };
  for (const [name, agent] of Object.entries(agents)) {
    assert.equal(browser({}, agent), name);
  }
  const phone = describe({}, agents["Safari 17.4"], 6);
  assert.deepEqual([phone.name, phone.os], ["iPhone", { name: "iOS", version: "17.4", api_level: null }]);
  assert.equal(describe({}, agents["Firefox 153"], 2).name, "Firefox 153 on Linux");
  const list = [{ brand: "Not;A=Brand", version: "99" }, { brand: "Chromium", version: "156.0" }];
  const brands = [...list, { brand: "Google Chrome", version: "156.0.1" }];
  assert.equal(browser({ fullVersionList: brands }, ""), "Google Chrome 156");
  assert.equal(browser({ fullVersionList: list }, ""), "Chromium 156");
  assert.equal(describe({ model: "Pixel 8", platform: "Android", platformVersion: "15" }, "", 8).name, "Pixel 8");
});
