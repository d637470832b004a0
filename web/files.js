// Files in and out: dropped or chosen ones are written where the program can open them, exports become downloads.

const MOST_MB = 256; // of one file: more has no room beside the runs in a page's memory
const FOLDER = "/drop";

/** `program`: {write(path, bytes), folder(path), open(path), note(kind, text)}. */
export function watchFiles(program) {
  const input = document.getElementById("file");
  document.getElementById("open").addEventListener("click", () => input.click());
  input.addEventListener("change", async () => {
    await openAll(program, [...input.files]);
    input.value = ""; // the same file again is a change, too
  });
  watchDrop((files) => openAll(program, files));
}

function watchDrop(take) {
  const sheet = document.getElementById("drop");
  const hasFiles = (event) => event.dataTransfer?.types.includes("Files");
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    sheet.hidden = false;
  });
  addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) sheet.hidden = true; // it left the window
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    sheet.hidden = true;
    take([...event.dataTransfer.files]);
  });
}

async function openAll(program, files) {
  program.folder(FOLDER);
  for (const file of files) {
    try {
      const size = Math.ceil(file.size / 1e6);
      if (size > MOST_MB) throw new Error(`it has ${size} MB, and a page takes ${MOST_MB} at most`);
      const path = `${FOLDER}/${file.name.replaceAll("/", "_")}`;
      program.write(path, new Uint8Array(await file.arrayBuffer()));
      program.open(path);
      program.note("file", "");
    } catch (error) {
      program.note("file", `“${file.name}” was not opened: ${error.message}`);
    }
  }
}

/** What the program exports. The bytes may lie in shared memory, which no Blob takes: they are copied. */
export function download(name, bytes, type = "application/octet-stream") {
  const url = URL.createObjectURL(new Blob([new Uint8Array(bytes)], { type }));
  const link = Object.assign(document.createElement("a"), { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
