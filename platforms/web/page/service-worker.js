// Adds the headers that allow threads, for hosts that cannot send them. It keeps nothing: each request goes to the
// host.

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function withHeaders(request) {
  const response = await fetch(request);
  if (response.status === 0) return response; // opaque: nothing can be added
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  const empty = response.status === 204 || response.status === 304; // these may have no body
  const { status, statusText } = response;
  return new Response(empty ? null : response.body, { status, statusText, headers });
}

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.cache === "only-if-cached" && request.mode !== "same-origin") return; // fetch() would refuse it
  event.respondWith(withHeaders(request));
});
