// What the page says: the bar while it loads, the page where the program cannot run or has ended, the line below the
// canvas.

const $ = (id) => document.getElementById(id);
const notes = new Map(); // kind → text; the first kind that has one is shown
const closed = new Set(); // texts that were read and closed
const ORDER = ["clipboard", "file", "storage", "small", "fresh"];

/** How far loading is. `share` is 0 to 1; without it the bar stays where it was, as for what has no measure. */
export function progress(text, share) {
  $("step").textContent = text;
  if (share !== undefined) $("progress").value = share;
}

/** The program has drawn: the canvas takes the place of the start page. */
export function started() {
  document.body.dataset.state = "running";
  if (innerWidth < 1024 || innerHeight < 600) {
    const touch = matchMedia("(pointer: coarse)").matches;
    const how = touch ? "Two fingers move the view; typing needs a keyboard." : "A larger window shows more.";
    note("small", `Made for 1024 × 600 and more. ${how}`);
  }
}

/** The line below the canvas; an empty text takes it back. */
export function note(kind, text) {
  if (text) notes.set(kind, text);
  else notes.delete(kind);
  const shown = ORDER.map((name) => notes.get(name)).find((one) => one && !closed.has(one)) ?? "";
  if ($("note").textContent === shown) return;
  $("note").textContent = shown;
  $("note-close").hidden = !shown;
  document.body.toggleAttribute("data-note", shown !== "");
}

export function closeable() {
  $("note-close").addEventListener("click", () => {
    closed.add($("note").textContent);
    note("", "");
  });
}

/** Instead of the program: what is wrong, what to do, and where nothing can be done what one would see. */
export function showTrouble(title, lines, { advice = "", buttons = [], picture = false } = {}) {
  document.body.dataset.state = "trouble";
  $("loading").hidden = true;
  $("trouble").hidden = false;
  $("trouble-title").textContent = title;
  $("trouble-list").replaceChildren(...lines.map(item));
  $("trouble-advice").textContent = advice;
  $("trouble-buttons").replaceChildren(...buttons.map(button));
  $("trouble-picture").hidden = !picture;
  if (picture) {
    $("picture-dark").srcset = "lab-dark.png";
    $("picture").src = "lab-light.png";
  }
}

function item(line) {
  return Object.assign(document.createElement("li"), { textContent: line });
}

function button([text, act], index) {
  const made = Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick: act });
  if (index === 0) made.className = "first";
  return made;
}
