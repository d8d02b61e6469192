/**
 * The files of the site. `site.json` holds size and SHA-256 of each, and every file of the bundle is checked
 * against it: what arrives damaged is not measured. What the bundle says was checked when the site was written.
 */

import { sha256 } from "@noble/hashes/sha2"; // the browser's own is missing where a page comes by plain http
import { bytesToHex } from "@noble/hashes/utils";

const VERSION = 1;

export class DamagedError extends Error {}

/**
 * @param {URL|string} base address of the site's folder
 * @returns {Promise<object>} the content of `site.json`
 */
export async function readSite(base) {
  const response = await get(new URL("site.json", base));
  const site = parse(await response.text(), "site.json");
  if (site.site_version !== VERSION) {
    throw new DamagedError(
      `site.json: site_version=${site.site_version} must be ${VERSION}: write the site again with export.web`,
    );
  }
  return site;
}

/**
 * A file of the site.
 *
 * @param {URL|string} base
 * @param {object} site the content of `site.json`
 * @param {string} path in the site's folder
 * @returns {Promise<Uint8Array>}
 */
export async function readFile(base, site, path) {
  const facts = site.files[path];
  if (!facts) {
    throw new DamagedError(`${path} is no file of this site`);
  }
  const response = await get(new URL(path, base));
  const content = new Uint8Array(await response.arrayBuffer());
  if (content.length !== facts.bytes) {
    throw new DamagedError(`${path} is damaged: it has ${content.length} bytes, not ${facts.bytes}`);
  }
  if (bytesToHex(sha256(content)) !== facts.sha256) {
    throw new DamagedError(`${path} is damaged: its SHA-256 is not the one in site.json`);
  }
  return content;
}

/**
 * The bundle of the site.
 *
 * @returns {Promise<{bundle: object, pictures: Uint8Array[]}>} the content of `bundle.json`, and the pixels of
 *     its images
 */
export async function readBundle(base, site) {
  const [text, pixels] = await Promise.all(
    ["bundle/bundle.json", "bundle/pixels.bin"].map((path) => readFile(base, site, path)),
  );
  const bundle = parse(new TextDecoder().decode(text), "bundle.json");
  const size = bundle.models[0].input.shape.reduce((product, length) => product * length, 1);
  const pictures = bundle.images.map((_, i) => pixels.subarray(i * size, (i + 1) * size));
  return { bundle, pictures };
}

async function get(url) {
  const name = url.pathname.split("/").pop();
  let response;
  try {
    response = await fetch(url);
  } catch {
    throw new Error(`${name} cannot be read: is the server there?`);
  }
  if (!response.ok) {
    throw new Error(`${name} cannot be read: the server answers ${response.status}`);
  }
  return response;
}

function parse(text, name) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DamagedError(`${name} is damaged: ${error.message}`);
  }
}
