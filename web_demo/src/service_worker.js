/**
 * Keeps the site's files, so that the page works offline, and adds the headers that threads need where the
 * server sends none. The page tells which files to keep, as no browser needs all of the runtime's programs.
 */

const CACHE = `site ${self.registration.scope} ${self.SITE_VERSION}`;
const ISOLATING = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
  "Cross-Origin-Resource-Policy": "same-origin",
};

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("activate", (event) => event.waitUntil(takeOver()));

self.addEventListener("message", (event) => {
  if (event.data.keep) {
    event.waitUntil(keep(event.data.keep, event.ports[0]));
  }
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(self.registration.scope)) {
    event.respondWith(answer(request));
  }
});

async function takeOver() {
  const others = (await caches.keys()).filter((name) => name !== CACHE);
  const old = others.filter((name) => name.startsWith(`site ${self.registration.scope} `));
  await Promise.all(old.map((name) => caches.delete(name)));
  await self.clients.claim();
}

/** Puts files into the cache that are not there yet, and tells the page how that went. */
async function keep(paths, port) {
  try {
    const cache = await caches.open(CACHE);
    for (const path of paths) {
      const url = new URL(path, self.registration.scope).href;
      if (!(await cache.match(url))) {
        await cache.add(new Request(url, { cache: "no-cache" }));
      }
    }
    port.postMessage({ kept: true, version: self.SITE_VERSION });
  } catch (error) {
    port.postMessage({ kept: false, message: error.message });
  }
}

/** From the cache, where all files are of one version, else from the server. */
async function answer(request) {
  const cache = await caches.open(CACHE);
  return isolated((await cache.match(request, { ignoreSearch: true })) ?? (await fetch(request)));
}

function isolated(response) {
  if (response.status !== 200) {
    return response;
  }
  const headers = new Headers(response.headers);
  Object.entries(ISOLATING).forEach(([name, value]) => headers.set(name, value));
  return new Response(response.body, { status: 200, statusText: response.statusText, headers });
}
