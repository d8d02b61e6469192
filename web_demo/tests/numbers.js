/** Numbers that Python computed, and that the Android app is tested with, too. */

import { readFileSync } from "node:fs";

const FILE = new URL("../../tests/export/data/phone_numbers.json", import.meta.url);

export const numbers = JSON.parse(readFileSync(FILE, "utf-8"));

/** Asserts that two numbers are equal but for the order in which a sum was rounded. */
export function isNear(found, expected) {
  if (!(Math.abs(found - expected) <= 1e-12)) {
    throw new Error(`${found} is not ${expected}`);
  }
}
