/** What a browser tells of the device, in the fields of a benchmark report; most it keeps for itself. */

/**
 * The `device` of a report without its states.
 *
 * @param {object} hints `navigator.userAgentData`'s high entropy values; empty where a browser has none
 * @param {string} agent `navigator.userAgent`
 * @param {?number} cores `navigator.hardwareConcurrency`
 */
export function describe(hints, agent, cores) {
  const os = system(hints, agent);
  return {
    name: hints.model || phone(agent) || `${browser(hints, agent)} on ${os.name ?? "an unknown system"}`,
    cpu: {
      name: null,
      architecture: [hints.architecture, hints.bitness].filter(Boolean).join(" ") || null,
      logical_cores: cores ?? null,
      features: null,
    },
    os: { ...os, api_level: null },
    memory_bytes: null,
    other_load_cores: null,
  };
}

/** Name and major version of the browser. */
export function browser(hints, agent) {
  const brands = (hints.fullVersionList ?? []).filter(({ brand }) => !/not.a.brand|^chromium$/i.test(brand));
  const brand = brands[0] ?? (hints.fullVersionList ?? []).find(({ brand }) => brand === "Chromium");
  if (brand) {
    return `${brand.brand} ${brand.version.split(".")[0]}`;
  }
  for (const [name, pattern] of [
    ["Firefox", /(?:Firefox|FxiOS)\/(\d+)/],
    ["Chrome", /(?:Chrome|CriOS)\/(\d+)/],
    ["Safari", /Version\/(\d+(?:\.\d+)?).* Safari/],
  ]) {
    const found = agent.match(pattern);
    if (found) {
      return `${name} ${found[1]}`;
    }
  }
  return "an unknown browser";
}

function system(hints, agent) {
  if (hints.platform) {
    return { name: hints.platform, version: hints.platformVersion || null };
  }
  for (const [name, pattern] of [
    ["Android", /Android ([\d.]+)/],
    ["iOS", /(?:iPhone|CPU) OS ([\d_]+)/],
    ["Windows", /Windows NT ([\d.]+)/],
    ["macOS", /Mac OS X ([\d_.]+)/],
    ["Linux", /Linux/],
  ]) {
    const found = agent.match(pattern);
    if (found) {
      return { name, version: found[1]?.replaceAll("_", ".") ?? null };
    }
  }
  return { name: null, version: null };
}

function phone(agent) {
  return agent.match(/iPhone|iPad/)?.[0] ?? null;
}

/** The `before` or `after` of a report. */
export async function state() {
  const battery = await navigator.getBattery?.().catch(() => null);
  return {
    time: new Date().toISOString(),
    load_average: null,
    thermal_status: null,
    thermal_headroom: null,
    battery_percent: battery ? Math.round(100 * battery.level) : null,
    charging: battery?.charging ?? null,
    power_save: null,
  };
}

/** The arguments of `describe` for this browser. */
export async function thisDevice() {
  const asked = ["model", "platformVersion", "architecture", "bitness", "fullVersionList"];
  const hints = (await navigator.userAgentData?.getHighEntropyValues(asked).catch(() => null)) ?? {};
  return [hints, navigator.userAgent, navigator.hardwareConcurrency];
}
