// Threads need shared memory, and browsers allow it only to a page that came with two headers (COOP and COEP). Where
// the host cannot send them, a service worker adds them: it is registered, then the page loads once more, through it.

const GUARD = "normscope-isolation"; // in sessionStorage: this tab has reloaded for it already

/** "done" or "reloading". Never reloads a second time in a tab, nor where that could not be remembered. */
export async function isolate(switchedOff) {
  if (globalThis.crossOriginIsolated) {
    forget();
    return "done";
  }
  if (switchedOff || !globalThis.isSecureContext || !("serviceWorker" in navigator) || !remember()) return "done";
  try {
    await navigator.serviceWorker.register(new URL("service-worker.js", import.meta.url));
    await navigator.serviceWorker.ready;
  } catch {
    return "done"; // refused, as private windows do
  }
  location.reload();
  return "reloading";
}

function remember() {
  try {
    if (sessionStorage.getItem(GUARD)) return false;
    sessionStorage.setItem(GUARD, "1");
    return sessionStorage.getItem(GUARD) === "1";
  } catch {
    return false;
  }
}

function forget() {
  try {
    sessionStorage.removeItem(GUARD);
  } catch {
    // Nothing was kept, then.
  }
}
