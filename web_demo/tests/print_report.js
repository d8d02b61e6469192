/** Prints a report for Python to check: a pair that went well, and one whose outputs are wrong. */

import { Session } from "../src/report/session.js";
import { FakeWorker, fakeRun, fakeTools, measuredPair } from "./fakes.js";

const wrong = measuredPair();
Object.assign(wrong.result.mobile.reference, { right: false, wrong_samples: 2, max_abs_diff: null });
wrong.result.mobile.notFinite = 2;
wrong.result.agreement = null;
wrong.result.mobile.facts.threadsUsed = 2;
const replies = [measuredPair(), wrong];
const pairs = ["int8", "wrong"].map((name) => ({ name, original: "original.tflite", mobile: "int8.tflite" }));
const session = new Session(fakeRun({ threads: 1 }), fakeTools(() => new FakeWorker([replies.shift()])));
const { report } = await session.measure(pairs);
console.log(JSON.stringify(report));
