/** Keeps the page for offline use, where the browser allows that: on this machine's own pages and by https. */

/** Calls a function when a newer version of the page has arrived, whose worker took over from this one's. */
export function watchForNewer(newer) {
  if (navigator.serviceWorker?.controller) {
    navigator.serviceWorker.addEventListener("controllerchange", newer, { once: true });
  }
}

/**
 * @param {string[]} paths the files that this browser needs
 * @param {string} version of this page
 * @param {function()} newer called when a newer version has arrived already
 * @returns {Promise<string>} what to tell the reader
 */
export async function keepForOffline(paths, version, newer) {
  if (!("serviceWorker" in navigator)) {
    return "Offline use needs https.";
  }
  const { serviceWorker } = navigator;
  try {
    await serviceWorker.register("service_worker.js");
    const { active } = await serviceWorker.ready;
    const answer = await new Promise((resolve) => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = ({ data }) => resolve(data);
      active.postMessage({ keep: paths }, [port2]);
    });
    if (answer.kept && answer.version !== version) {
      newer();
    }
    return answer.kept ? "Works offline now." : `Not kept for offline use: ${answer.message}.`;
  } catch (error) {
    return `Not kept for offline use: ${error.message}.`;
  }
}
