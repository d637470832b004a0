// Files in and out: dropped or chosen ones are written where the program can open them, exports become downloads.

const MOST_MB = 256; // of one file: more has no room beside the runs in a page's memory
const MOST_KEPT_MB = 32; // of one file: each visit begins with reading all that is kept
const KEPT = "/home/normscope/files"; // where a session that is restored finds its text
const FOLDER = "/drop";

/** `program`: {keeps(), write(path, bytes), folder(path), remove(path), store(), open(path), note(kind, text)}. */
export function watchFiles(program) {
  const input = document.getElementById("file");
  document.getElementById("open").addEventListener("click", () => input.click());
  input.addEventListener("change", async () => {
    await openAll(program, [...input.files]);
    input.value = ""; // the same file again is a change, too
  });
  watchDrop((files) => openAll(program, files));
}

// Ahead of the canvas and kept from it: Emscripten's GLFW listens there, and would open the file a second time.
function watchDrop(take) {
  const sheet = document.getElementById("drop");
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  const listen = (kind, act) =>
    addEventListener(
      kind,
      (event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        event.stopPropagation();
        act(event);
      },
      true,
    );
  listen("dragover", () => {
    sheet.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) sheet.hidden = true; // it left the window
  });
  listen("drop", (event) => {
    sheet.hidden = true;
    take([...event.dataTransfer.files]);
  });
}

async function openAll(program, files) {
  for (const file of files) {
    try {
      const size = Math.ceil(file.size / 1e6);
      if (size > MOST_MB) throw new Error(`it has ${size} MB, and a page takes ${MOST_MB} at most`);
      const { path, refused } = await put(program, file, size);
      program.open(path);
      program.note("file", refused && `“${file.name}” is not there after a reload: ${refused}.`);
    } catch (error) {
      program.note("file", `“${file.name}” was not opened: ${error.message}`);
    }
  }
}

/** Where the file lies, and why it is not kept; empty: it is, or nothing is, of which other lines tell. */
async function put(program, file, size) {
  const name = file.name.replaceAll("/", "_");
  const bytes = new Uint8Array(await file.arrayBuffer());
  const write = (folder) => {
    program.folder(folder);
    program.write(`${folder}/${name}`, bytes);
    return `${folder}/${name}`;
  };
  if (!program.keeps()) return { path: write(FOLDER), refused: "" };
  if (size > MOST_KEPT_MB)
    return { path: write(FOLDER), refused: `it has ${size} MB, and ${MOST_KEPT_MB} at most are kept` };
  const path = write(KEPT);
  const error = await program.store();
  if (!error) return { path, refused: "" };
  program.remove(path); // or it would keep out all that is stored after it
  return { path: write(FOLDER), refused: `the browser's storage refused it (${error.name ?? error})` };
}

/** What the program exports. The bytes may lie in shared memory, which no Blob takes: they are copied. */
export function download(name, bytes, type = "application/octet-stream") {
  const url = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
