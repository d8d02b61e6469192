/** Builds the page into `dist`: three scripts, each from its modules, the page itself, and LiteRT.js' programs. */

import { build } from "esbuild";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";

const DIST = "dist";
const RUNTIME = "node_modules/@litertjs/core";

await rm(DIST, { recursive: true, force: true });
await mkdir(DIST);
const { version } = JSON.parse(await readFile(`${RUNTIME}/package.json`, "utf-8"));
await build({
  entryPoints: ["src/main.js", "src/worker.js", "src/service_worker.js"],
  outdir: DIST,
  bundle: true,
  format: "iife", // the runtime's loader needs importScripts, which workers that are modules lack
  target: ["chrome109", "firefox115", "safari16.4"],
  minify: true,
  legalComments: "eof",
  define: { LITERT_VERSION: JSON.stringify(version) },
});
await cp("page", DIST, { recursive: true });
await mkdir(`${DIST}/wasm`);
for (const program of ["", "_compat", "_jspi", "_threaded"]) {
  for (const suffix of ["js", "wasm"]) {
    const name = `litert_wasm${program}_internal.${suffix}`;
    await cp(`${RUNTIME}/wasm/${name}`, `${DIST}/wasm/${name}`);
  }
}
await writeFile(`${DIST}/built.json`, `${JSON.stringify({ litert: version })}\n`);
