// What the program needs of a browser, and which of it is missing, in words.

/** A module whose one function is made of `code`, of the given type: valid where the browser knows the instructions. */
function knows(result, ...code) {
  const type = result === null ? [96, 0, 0] : [96, 0, 1, result];
  const body = [0, ...code, 11];
  const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 1, type.length + 1, 1, ...type, 3, 2, 1, 0, 10, body.length + 2, 1, body.length, ...body];
  return WebAssembly.validate(new Uint8Array(bytes));
}

const V128 = 123;
const splat = [65, 0, 253, 15]; // i32.const 0, i8x16.splat
const caught = [6, 64, 25, 11]; // try, catch_all, end

function hasWebGL2() {
  const context = document.createElement("canvas").getContext("webgl2");
  context?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers count contexts
  return context !== null;
}

/** One sentence for each thing that is missing; empty where the program can run. */
export function missing() {
  if (typeof WebAssembly !== "object") return ["WebAssembly: this browser has none, or it is switched off."];
  const list = [];
  if (!knows(V128, ...splat)) list.push("SIMD: this browser's WebAssembly has no vector instructions, which the training needs.");
  if (!knows(null, ...caught)) list.push("Exceptions: this browser's WebAssembly cannot handle errors inside the program.");
  if (!globalThis.crossOriginIsolated || typeof SharedArrayBuffer === "undefined") list.push(threadsMissing());
  if (!hasWebGL2()) list.push("WebGL 2: this browser has none, or it is switched off (hardware acceleration in its settings).");
  return list;
}

function threadsMissing() {
  if (!globalThis.isSecureContext) return "Threads: browsers allow them only for pages from https: or from this computer itself.";
  if (!("serviceWorker" in navigator))
    return "Threads: the server does not send the headers that allow them (COOP, COEP), and without service workers, as in some private windows, the page cannot add them.";
  return "Threads: the server does not send the headers that allow them (COOP, COEP), and adding them by a service worker did not help.";
}
