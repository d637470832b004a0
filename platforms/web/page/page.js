// The page around the program: looks whether the browser can run it, loads it with a progress bar, gives it the canvas,
// files and downloads, and says what it cannot say itself. `window.normscope` is what the tests ask.

import { isolate } from "./isolation.js";
import { watchFiles, download } from "./files.js";
import { Loading, runScript } from "./loading.js";
import { limitedMemory } from "./memory.js";
import { fitCanvas, offerSides } from "./stage.js";
import { listenToTouch } from "./touch.js";
import { hasWebGL2, missing, NO_WEBGL2 } from "./support.js";
import { closeable, note, progress, showTrouble, started } from "./words.js";

const query = new URLSearchParams(location.search);
const fresh = query.has("fresh");
const WORKERS = Math.min(navigator.hardwareConcurrency || 4, 8); // that train: cmake/NormscopeWeb.cmake starts so many
const canvas = document.getElementById("canvas");
const marks = { page: 0, firstFrame: null, firstStep: null }; // ms since the page started to load
let program = null;
let lastLine = ""; // of its error output
let over = false; // the program has ended, and the page said why

/** What the program says of itself, as an object; null while there is none. */
function status() {
  if (!program || over) return null;
  return JSON.parse(program.ccall("ns_status", "string", [], []));
}

/** Rectangles of the program's controls whose names begin with `prefix`, in CSS px from the canvas's corner. */
function places(prefix) {
  return JSON.parse(program.ccall("ns_places", "string", ["string"], [prefix]));
}

function fatal(text) {
  if (over) return;
  over = true;
  showTrouble("The program has ended", [String(text)], {
    advice:
      "What it kept last is still in this browser. “Start anew” leaves it aside, which helps where its runs are too " +
      "large for a page.",
    buttons: [
      ["Reload", () => location.reload()],
      ["Start anew", () => location.assign(`${location.pathname}?fresh`)],
    ],
  });
}

function notStarted(error) {
  if (over) return;
  over = true;
  showTrouble("The program did not start", [inWords(error)], { buttons: [["Reload", () => location.reload()]] });
}

/** What a page's error means to the person before it. */
function inWords(error) {
  const text = String(error?.message ?? error);
  if (error instanceof TypeError && /fetch|load|network|server answers/i.test(text))
    return `A file of the program could not be loaded (${text}).`;
  if (/memory|allocat|OOM/i.test(text) && !/out of bounds/i.test(text))
    return `The memory that the browser gives a page is used up (${text}).`;
  return `Something in the program broke: ${text}. That is a fault of ours.`;
}

function programArguments() {
  const list = [];
  const threads = query.get("threads");
  if (threads !== null) list.push("--threads", Number(threads) > WORKERS ? String(WORKERS) : threads);
  if (fresh) list.push("--safe-mode");
  return list;
}

/** The next load of this address is a visit like any other, and this one is not kept. */
function sayFresh() {
  const address = new URL(location.href);
  address.searchParams.delete("fresh");
  history.replaceState(null, "", address);
  note("fresh", "Begun anew: nothing of this visit will be found again; a reload goes back to what the last one left.");
}

/**
 * `compiled`: the module; `data`: what it finds in its file system; `script`: where each worker finds the glue, so that
 * none asks the host for it again; `linked`: the memory that the module was linked with.
 */
function moduleArguments(compiled, data, script, linked) {
  const file = (name) => new URL(name, import.meta.url).href;
  return {
    canvas,
    arguments: programArguments(),
    locateFile: file,
    mainScriptUrlOrBlob: script,
    wasmMemory: limitedMemory(query.get("memory"), linked),
    getPreloadedPackage: (name) => (name.endsWith("normscope.data") ? data : null),
    // Given back by a callback: an error inside never reaches the promise of createNormscope.
    instantiateWasm(imports, receive) {
      WebAssembly.instantiate(compiled, imports)
        .then((instance) => receive(instance, compiled))
        .catch(notStarted);
      return {};
    },
    nsDownload: download,
    nsStatus: (text) => progress(text),
    nsFatal: fatal,
    nsRefused: (what) => note(what, "The browser did not let the page write to the clipboard. Copy once more."),
    onAbort: (what) => fatal(inWords(what)),
    printErr(line) {
      lastLine = line;
      console.warn(line);
    },
    // A page's program never ends by itself, but where it refuses its arguments: its last line says why.
    onExit: (code) => fatal(lastLine || `It ended with code ${code}.`),
  };
}

/** Until the program has drawn once and trained once: when that was. Then four times a second what the page shows. */
function follow() {
  if (over) return;
  const now = status();
  if (!now) return void setTimeout(follow, 10); // main() has not come to its window yet
  const time = performance.now();
  if (marks.firstFrame === null && (now.frames ?? 1) > 0) {
    marks.firstFrame = time;
    started();
    if (fresh) sayFresh();
    canvas.focus();
  }
  if (marks.firstStep === null && now.runs.some((run) => run.step > 0)) marks.firstStep = time;
  if (now.theme) document.documentElement.dataset.theme = now.theme;
  note("storage", now.storage && now.storage !== "kept" ? now.storage : refusedStorage);
  document.title = document.hidden ? (now.training ? "normscope, training on" : "normscope, at rest") : "normscope";
  const waiting = marks.firstFrame === null || marks.firstStep === null;
  if (waiting && !document.hidden) requestAnimationFrame(follow);
  else setTimeout(follow, waiting ? 50 : 250);
}

let refusedStorage = "";

/** A browser in private mode may refuse a page any storage: the program goes on, and forgets. */
function askStorage() {
  const refused = () => {
    refusedStorage =
      "This browser keeps nothing for this page (a private window?): sessions and progress end with the tab.";
  };
  try {
    const request = indexedDB.open("normscope-may-keep");
    request.onerror = refused;
    request.onsuccess = () => {
      request.result.close();
      indexedDB.deleteDatabase("normscope-may-keep");
    };
  } catch {
    refused();
  }
}

function listen() {
  watchFiles({
    keeps: () => !fresh && Boolean(program.nsStorage),
    folder: (path) => program.FS.mkdirTree(path),
    write: (path, bytes) => program.FS.writeFile(path, bytes),
    remove: (path) => program.FS.unlink(path),
    store: () => new Promise((stored) => program.FS.syncfs(false, stored)),
    open: (path) => program.ccall("ns_open_file", null, ["string"], [path]),
    note,
  });
  listenToTouch(canvas, document.getElementById("stage"));
  fitCanvas(canvas, document.getElementById("stage"), (width, height) => {
    if (program._ns_resize && !over) program._ns_resize(width, height);
  });
  offerSides(document.getElementById("side"), document.getElementById("stage"));
  document.addEventListener("visibilitychange", () => {
    if (program._ns_hidden && !over) program._ns_hidden(document.hidden ? 1 : 0);
  });
  canvas.addEventListener("webglcontextlost", () =>
    fatal("The browser took the graphics away from this page (WebGL context lost)."),
  );
  addEventListener("hashchange", () => location.reload()); // another link was pasted
  addEventListener("error", (event) => {
    if (event.error instanceof WebAssembly.RuntimeError) fatal(inWords(event.error));
  });
  addEventListener("unhandledrejection", (event) => {
    if (event.reason instanceof WebAssembly.RuntimeError) fatal(inWords(event.reason));
  });
}

function cannotRun(lacking) {
  showTrouble("This browser cannot run it here", lacking, {
    advice:
      "Chrome and Edge from 100 on, Firefox from 102 and Safari from 16.4 have what it needs; " +
      "it was tried in Chromium and Firefox.",
    picture: true,
  });
}

async function run() {
  closeable();
  if ((await isolate(query.has("nosw"))) === "reloading") return;
  const lacking = missing();
  if (lacking.length > 0) return cannotRun(lacking);
  const loading = new Loading(progress);
  const begun = loading.begin();
  if (!hasWebGL2()) return cannotRun([NO_WEBGL2]);
  askStorage();
  await begun;
  const [compiled, data, script] = await Promise.all([
    loading.compile("normscope.wasm"),
    loading.bytes("normscope.data"),
    loading.bytes("normscope.js").then(runScript),
  ]);
  const given = moduleArguments(compiled, data, script, loading.memory);
  progress("Starting the workers");
  program = await globalThis.createNormscope(given);
  listen();
  follow();
}

window.normscope = { status, places, marks };
run().catch(notStarted);
