/** What to do with a report: download it, copy it, send it to the machine that serves the page. */

/** Offers the report as a file. */
export function download(report) {
  const url = URL.createObjectURL(new Blob([text(report)], { type: "application/json" }));
  const link = Object.assign(document.createElement("a"), { href: url, download: fileName(report) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Copies the report; browsers allow it by https only. */
export async function copy(report) {
  await navigator.clipboard.writeText(text(report));
}

/** Whether the serving machine takes reports. A HEAD request is not answered from what is kept for offline use. */
export async function takesReports(base) {
  try {
    const response = await fetch(new URL("site.json", base), { method: "HEAD" });
    return response.headers.get("Accept-Post") === "application/json";
  } catch {
    return false; // offline
  }
}

/**
 * Sends the report.
 *
 * @returns {Promise<string>} its name on the serving machine
 */
export async function send(base, report) {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(new URL("reports", base), { method: "POST", headers, body: text(report) });
  const answer = (await response.text()).trim();
  if (!response.ok) {
    throw new Error(answer || `the server answers ${response.status}`);
  }
  return answer;
}

function text(report) {
  return `${JSON.stringify(report, null, 2)}\n`;
}

function fileName({ device }) {
  const words = [device.name, device.after.time.slice(0, 16)].join(" ");
  return `benchmark ${words.replace(/[^A-Za-z0-9]+/g, " ").trim()}.json`.replaceAll(" ", "_");
}
