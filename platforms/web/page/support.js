// What the program needs of a browser, and which of it is missing, in words.

/** A module whose one function is made of `code`, of the given type: valid where the browser knows the instructions. */
function knows(result, ...code) {
  const type = result === null ? [96, 0, 0] : [96, 0, 1, result];
  const body = [0, ...code, 11];
  const magic = [0, 97, 115, 109, 1, 0, 0, 0];
  const types = [1, type.length + 1, 1, ...type];
  const functions = [3, 2, 1, 0];
  const codes = [10, body.length + 2, 1, body.length, ...body];
  return WebAssembly.validate(new Uint8Array([...magic, ...types, ...functions, ...codes]));
}

const V128 = 123;
const splat = [65, 0, 253, 15]; // i32.const 0, i8x16.splat
const caught = [6, 64, 25, 11]; // try, catch_all, end

/** The look for it starts the browser's graphics, which takes longer than all else here: the program comes in meanwhile. */
export function hasWebGL2() {
  const context = document.createElement("canvas").getContext("webgl2");
  context?.getExtension("WEBGL_lose_context")?.loseContext(); // browsers count contexts
  return context !== null;
}

export const NO_WEBGL2 = "WebGL 2: this browser has none, or it is switched off (hardware acceleration in its settings).";

/** One sentence for each thing that is missing but WebGL 2; empty where the program can run. */
export function missing() {
  if (typeof WebAssembly !== "object") return ["WebAssembly: this browser has none, or it is switched off."];
  const hasThreads = globalThis.crossOriginIsolated && typeof SharedArrayBuffer !== "undefined";
  const words = [
    [knows(V128, ...splat), "SIMD: this browser's WebAssembly has no vector instructions, which the training needs."],
    [knows(null, ...caught), "Exceptions: this browser's WebAssembly cannot handle errors inside the program."],
    [hasThreads, `Threads: ${noThreads()}`],
  ];
  return words.filter(([there]) => !there).map(([, text]) => text);
}

function noThreads() {
  if (!globalThis.isSecureContext) return "browsers allow them only for pages from https: or from this computer itself.";
  const headers = "the server does not send the headers that allow them (COOP, COEP), and";
  if ("serviceWorker" in navigator) return `${headers} adding them by a service worker did not help.`;
  return `${headers} without service workers, as in some private windows, the page cannot add them.`;
}
