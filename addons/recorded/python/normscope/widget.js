// The notebook's side of normscope.widget: a sub-layer of each run, whose norms are dragged, above the loss curves. It asks
// for settings by messages {format, arm, key, value}, and draws the traits of _view.py. It loads nothing.

const FORMAT = 1, PLACEMENT = "model.placement";
const SLOTS = {
  before: { x: 78, y: 28, words: "before the branch" },
  after: { x: 204, y: 28, words: "after the branch" },
  stream: { x: 284, y: 84, words: "on the stream, after the sum" },
};
const DASHES = { A: "", B: "7 4", C: "", D: "2 4" };
const BUSY_MS = 400; // so long after a movement without an answer the kernel has something else to do

const STYLE = `
.normscope { color-scheme: light dark; font: 13px/1.4 system-ui, sans-serif; color: var(--ink); background: var(--panel);
  border: 1px solid var(--line); border-radius: 6px; padding: 12px; max-width: 760px;
  --ink: light-dark(#191b20, #edede9); --soft: light-dark(#646872, #a0a3ab); --panel: light-dark(#fff, #1a1b1f);
  --line: light-dark(#e2e1da, #2c2e34); --wire: light-dark(#8c8e95, #6c7079); --field: light-dark(#f3f3ef, #222429);
  --error: light-dark(#b3261e, #ff8a80);
  --A: light-dark(#0072b2, #3da5e0); --B: light-dark(#b34e00, #f0813a); --C: light-dark(#0c805f, #1dbe8f);
  --D: light-dark(#9c4a78, #db93bb); }
[data-jp-theme-light="true"] .normscope, .vscode-light .normscope, html[theme="light"] .normscope { color-scheme: light; }
[data-jp-theme-light="false"] .normscope, .vscode-dark .normscope, html[theme="dark"] .normscope { color-scheme: dark; }
.normscope .arms { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(300px, 100%), 1fr)); gap: 12px 28px; }
.normscope .arm { min-width: 0; color: var(--run); }
.normscope .head, .normscope label { display: flex; gap: 8px; align-items: center; }
.normscope label, .normscope .foot { color: var(--soft); }
.normscope label span { flex: 0 0 10em; } .normscope label input { flex: 1; min-width: 0; accent-color: var(--run); }
.normscope select { font: inherit; color: var(--ink); background: var(--field); border: 1px solid var(--line); }
.normscope .word { color: var(--ink); margin-left: auto; }
.normscope svg { display: block; width: 100%; touch-action: pan-y; }
.normscope svg text { fill: var(--soft); font: 12px system-ui, sans-serif; text-anchor: middle; }
.normscope .wire { fill: none; stroke: var(--wire); stroke-width: 2; }
.normscope .box { fill: var(--field); stroke: var(--wire); }
.normscope .slot { fill: var(--panel); stroke: var(--wire); stroke-dasharray: 3 3; opacity: .5; }
.normscope .slot.free { stroke: currentColor; opacity: 1; }
.normscope .norm { cursor: grab; touch-action: none; outline: none; }
.normscope .norm[aria-disabled="true"] { cursor: default; }
.normscope .norm rect { fill: currentColor; } .normscope .norm text { fill: var(--panel); font-weight: 600; }
.normscope .norm:focus-visible rect { stroke: var(--ink); stroke-width: 3; }
.normscope .curve { fill: none; stroke-width: 2; } .normscope .pale { opacity: .3; }
.normscope .error { color: var(--error); } .normscope p { margin: 4px 0 0; }`;

/// A new element with attributes and children; SVG's have their own name space.
function make(name, attributes = {}, ...children) {
  const drawn = ["svg", "g", "path", "rect", "circle", "text", "title"].includes(name);
  const made = drawn ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function same(a, b) {
  return Object.keys({ ...a, ...b }).every((slot) => a[slot] === b[slot]);
}

/// The first placement of the program's table that has its norms in these slots, or undefined.
function placeOf(model, norms) {
  return model.get("places").find((place) => same(place.norms, norms));
}

/// The name of an arm's placement: what was chosen last, or its preset's, or the first that looks like it.
function placementOf(model, arm) {
  const settings = model.get("settings")[arm];
  const named = [settings[PLACEMENT], settings.preset].find((name) => model.get("places").some((place) => place.name === name));
  return named ?? placeOf(model, model.get("drawn")[arm]?.norms ?? {})?.name;
}

/// Where a norm may stand: its own slot, and each free one from which the program has a placement.
function stops(model, norms, slot) {
  const found = [];
  for (const to of Object.keys(SLOTS)) {
    const { [slot]: moved, ...rest } = norms;
    const place = to === slot || norms[to] ? undefined : placeOf(model, { ...rest, [to]: moved });
    if (to === slot || place) found.push({ slot: to, place: place?.name });
  }
  return found;
}

/// A run: its placement as a list, the diagram of its sub-layers with the norms, and its sliders.
class Arm {
  constructor(model, letter, send) {
    this.model = model;
    this.letter = letter;
    this.send = (key, value) => send(letter, key, value);
    this.held = null; // a norm that is being dragged: {slot, stops, at, placement, x, y}
    this.list = make("select", { "aria-label": `placement of run ${letter}` });
    this.list.append(...model.get("places").map((place) => make("option", { value: place.name }, place.name)));
    this.list.addEventListener("change", () => this.send(PLACEMENT, this.list.value));
    this.word = make("span", { class: "word" });
    this.word.dataset.verdict = letter;
    this.word.setAttribute("aria-live", "polite");
    this.sliders = model.get("sliders").map((field) => this.slider(field));
    this.element = make("div", { class: "arm", style: `--run: var(--${letter})`, role: "group", "aria-label": `run ${letter}` },
      make("div", { class: "head" }, make("b", {}, letter), this.list, this.word), this.diagram(), ...this.sliders.map((one) => one.row));
  }

  diagram() {
    this.svg = make("svg", { viewBox: "0 0 330 112" },
      make("path", { class: "wire", d: "M8 84H322m-7 -5l7 5l-7 5M34 84V28H240V74" }),
      make("rect", { class: "box", x: 104, y: 12, width: 74, height: 32, rx: 4 }),
      make("text", { x: 141, y: 32 }, "attn / ffn"),
      make("circle", { class: "box", cx: 240, cy: 84, r: 10 }), make("text", { x: 240, y: 88 }, "+"));
    this.slots = {}, this.norms = {};
    for (const [slot, { x, y, words }] of Object.entries(SLOTS)) {
      this.slots[slot] = make("rect", { class: "slot", x: x - 20, y: y - 11, width: 40, height: 22, rx: 4 });
      const norm = make("g", { class: "norm", role: "slider", tabindex: 0, "aria-label": `norm of run ${this.letter}`, "aria-valuetext": words },
        make("title", {}, `a norm ${words}: drag it, or press the arrow keys`),
        make("rect", { x: -22, y: -13, width: 44, height: 26, rx: 4 }), make("text", { y: 4 }, "norm"));
      norm.dataset.norm = `${this.letter}.${slot}`;
      norm.addEventListener("pointerdown", (event) => this.take(event, slot));
      norm.addEventListener("pointermove", (event) => this.drag(event));
      norm.addEventListener("pointerup", () => this.drop());
      norm.addEventListener("pointercancel", () => this.back());
      norm.addEventListener("keydown", (event) => this.key(event, slot));
      this.norms[slot] = norm;
    }
    this.svg.append(...Object.values(this.slots), ...Object.values(this.norms));
    return this.svg;
  }

  slider(field) {
    const to = (value) => (field.logarithmic ? Math.log10(value) : value);
    const [low, high] = [to(field.low), to(field.high)];
    const input = make("input", { type: "range", min: low, max: high, step: field.logarithmic ? 0.05 : 1, "data-key": field.key });
    const shown = make("output");
    input.addEventListener("input", () => {
      const value = field.logarithmic ? Number((10 ** input.value).toPrecision(3)) : Number(input.value);
      this.send(field.key, value);
    });
    const row = make("label", { title: field.help }, make("span", {}, field.label), input, shown);
    return { row, show: (settings) => {
      const value = Number(settings[field.key] ?? field.usual);
      if (document.activeElement !== input) input.value = to(Math.max(value, field.low));
      shown.textContent = `${value} ${field.unit}`;
    } };
  }

  shownNorms() {
    return this.model.get("drawn")[this.letter]?.norms ?? {};
  }

  place(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [at.x, at.y];
  }

  take(event, slot) {
    const found = stops(this.model, this.shownNorms(), slot);
    if (event.button !== 0 || found.length < 2) return;
    this.norms[slot].setPointerCapture(event.pointerId);
    const [x, y] = this.place(event);
    this.held = { slot, stops: found, at: slot, placement: placementOf(this.model, this.letter), x, y };
    this.show();
  }

  // A norm that is held over a slot trains the run that it would give: the answer does not wait for the drop.
  drag(event) {
    if (!this.held) return;
    [this.held.x, this.held.y] = this.place(event);
    const far = ({ slot }) => Math.hypot(SLOTS[slot].x - this.held.x, SLOTS[slot].y - this.held.y);
    const nearest = this.held.stops.reduce((best, one) => (far(one) < far(best) ? one : best));
    if (nearest.slot !== this.held.at) {
      this.held.at = nearest.slot;
      this.send(PLACEMENT, nearest.place ?? this.held.placement);
    }
    this.show();
  }

  drop() {
    if (!this.held) return;
    this.follow = this.held.at;
    this.held = null;
    this.show();
  }

  back() {
    if (this.held && this.held.at !== this.held.slot) this.send(PLACEMENT, this.held.placement);
    this.held = null;
    this.show();
  }

  key(event, slot) {
    if (event.key === "Escape") return this.back();
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!step || this.held) return;
    event.preventDefault();
    const found = stops(this.model, this.shownNorms(), slot);
    const next = found[found.findIndex((one) => one.slot === slot) + step];
    if (!next) return;
    this.follow = next.slot;
    this.send(PLACEMENT, next.place);
  }

  show() {
    const norms = this.shownNorms(), held = this.held;
    for (const [slot, norm] of Object.entries(this.norms)) {
      const free = held ? held.stops : stops(this.model, norms, slot);
      const place = held?.slot === slot ? held : SLOTS[slot];
      norm.style.display = held?.slot === slot || (norms[slot] && held?.at !== slot) ? "" : "none";
      norm.style.opacity = held?.slot === slot ? 1 : norms[slot]; // pale where only some sub-layers have it
      norm.setAttribute("transform", `translate(${place.x} ${place.y})`);
      norm.setAttribute("aria-valuemin", 1);
      norm.setAttribute("aria-valuemax", free.length);
      norm.setAttribute("aria-valuenow", 1 + free.findIndex((one) => one.slot === slot));
      norm.setAttribute("aria-disabled", free.length < 2);
      this.slots[slot].classList.toggle("free", Boolean(held?.stops.some((one) => one.slot === slot)));
    }
    if (this.follow && norms[this.follow]) { // the norm that was moved keeps the focus
      this.norms[this.follow].focus({ preventScroll: true });
      this.follow = null;
    }
    const settings = this.model.get("settings")[this.letter];
    this.list.value = placementOf(this.model, this.letter) ?? "";
    for (const one of this.sliders) one.show(settings);
    const since = this.model.get("drawn")[this.letter]?.since;
    const word = this.model.get("verdict")[this.letter] ?? "";
    const said = word === "learns" && since ? `learns since step ${since}` : word;
    if (this.word.textContent !== said) this.word.textContent = said; // a reader hears changes alone
  }
}

/// The loss curves. While a run trains anew, its last curve stays, pale.
class Curves {
  constructor(model, letters) {
    this.model = model;
    this.letters = letters;
    this.last = {}, this.before = {};
    this.svg = make("svg", { viewBox: "0 0 640 244", role: "img", "aria-label": "loss by step" });
  }

  show() {
    const losses = this.model.get("losses"), drawn = this.model.get("drawn");
    for (const letter of this.letters) {
      const now = losses[letter] ?? [], last = this.last[letter] ?? [];
      if (now.length < last.length) this.before[letter] = last;
      if (now.length >= (drawn[letter]?.of ?? 0)) delete this.before[letter];
      this.last[letter] = now;
    }
    const values = [...Object.values(this.last), ...Object.values(this.before)].flat().filter((one) => one !== null);
    if (!values.length) return;
    const steps = Math.max(...this.letters.map((letter) => drawn[letter]?.of ?? 0), 1);
    const low = Math.floor(Math.min(...values) * 2) / 2, high = Math.max(Math.ceil(Math.max(...values) * 2) / 2, low + 0.5);
    const x = (step) => 36 + (step / steps) * 580, y = (loss) => 24 + ((high - loss) / (high - low)) * 188;
    const line = (list) => list.reduce(([path, up], loss, i) =>
      loss === null ? [path, true] : [`${path}${up ? "M" : "L"}${x(i + 1).toFixed(1)} ${y(loss).toFixed(1)}`, false], ["", true])[0];
    const parts = [make("path", { class: "wire", d: "M36 12V212H616", style: "stroke-width: 1" }), make("text", { x: 326, y: 241 }, "step"),
      make("text", { x: 52, y: 16 }, "loss")];
    const apart = Math.max(0.5, Math.ceil((high - low) / 6));
    for (let tick = low; tick <= high; tick += apart) parts.push(make("text", { x: 18, y: y(tick) + 4 }, tick.toFixed(1)));
    for (const step of [0, steps / 2, steps]) parts.push(make("text", { x: x(step), y: 226 }, Math.round(step)));
    const ends = [];
    for (const letter of this.letters) {
      const style = { style: `stroke: var(--${letter})`, "stroke-dasharray": DASHES[letter] };
      if (this.before[letter]) parts.push(make("path", { class: "curve pale", d: line(this.before[letter]), ...style }));
      const list = this.last[letter], end = list.findLastIndex((loss) => loss !== null);
      if (end < 0) continue;
      parts.push(make("path", { class: "curve", "data-curve": letter, d: line(list), ...style }));
      ends.push({ letter, x: x(end + 1) + 10, y: y(list[end]) + 4 });
    }
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((one, i) => {
      if (i && one.x === ends[i - 1].x) one.y = Math.max(one.y, ends[i - 1].y + 13); // letters beside each other can be read
      parts.push(make("text", { x: one.x, y: one.y, style: `fill: var(--${one.letter}); font-weight: 600` }, one.letter));
    });
    this.svg.replaceChildren(...parts);
  }
}

function render({ model, el }) {
  let busy = 0;
  const error = make("p", { class: "error", role: "alert" }), wait = make("p", { class: "foot", role: "status" });
  const send = (arm, key, value) => {
    clearTimeout(busy);
    busy = setTimeout(() => { wait.textContent = "The kernel is busy; it answers after its cell."; }, BUSY_MS);
    model.send({ format: FORMAT, arm, key, value });
  };
  if (model.get("format") !== FORMAT) error.textContent = `format ${model.get("format")}: expected ${FORMAT}; restart the kernel`;
  const letters = Object.keys(model.get("settings"));
  const arms = letters.map((letter) => new Arm(model, letter, send)), curves = new Curves(model, letters);
  const show = () => {
    clearTimeout(busy);
    wait.textContent = "";
    error.textContent = model.get("error");
    for (const one of [...arms, curves]) one.show();
  };
  el.append(make("div", { class: "normscope" }, make("style", {}, STYLE), make("div", { class: "arms" }, ...arms.map((arm) => arm.element)),
    curves.svg, error, wait, make("p", { class: "foot" }, `Small runs of seed ${model.get("seed")}: one seed is no finding.`)));
  show();
  const traits = ["settings", "losses", "drawn", "verdict", "error"];
  for (const trait of traits) model.on(`change:${trait}`, show);
  return () => {
    clearTimeout(busy);
    for (const trait of traits) model.off(`change:${trait}`, show);
  };
}

export default { render };
