/** What this browser offers the runtime. */

import { supportsFeature } from "@litertjs/core";

/**
 * @returns {Promise<{relaxedSimd: boolean, threads: number, gpu: ?object, jspi: boolean}>} `threads`: how many
 *     there may be, 1 where the page is not isolated; `gpu`: facts of the WebGPU adapter, null without one
 */
export async function findFeatures() {
  const relaxedSimd = await supportsFeature("relaxedSimd");
  const threaded = relaxedSimd && self.crossOriginIsolated === true && (await supportsFeature("threads"));
  return {
    relaxedSimd,
    threads: threaded ? (navigator.hardwareConcurrency ?? 1) : 1,
    gpu: await findGpu(),
    jspi: await supportsFeature("jspi"),
  };
}

async function findGpu() {
  const adapter = await navigator.gpu?.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) {
    return null;
  }
  const { vendor, architecture, description, isFallbackAdapter } = adapter.info;
  return {
    name: description || [vendor, architecture].filter(Boolean).join(" ") || "unnamed",
    // Chrome's software renderer says so in one of these ways.
    emulated: (isFallbackAdapter ?? adapter.isFallbackAdapter ?? false) || /swiftshader/i.test(architecture),
  };
}
