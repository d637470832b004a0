// Fingers as a mouse. One finger points, presses and drags; held still it is the right button. Two fingers move the view
// in a window too small for it, else they are the wheel; two that part or close are the wheel as well, which zooms a
// plot.

const HOLD_MS = 500;
const LINGER_MS = 6000; // what a pointer shows beside itself is read by then, and stands in the way after it
const STILL_PX = 8; // a finger that moved less has not moved
const WHEEL_PER_PX = 4; // of a pinch
const SENT = { bubbles: true, cancelable: true, view: window };

export function listenToTouch(canvas, stage) {
  const hand = new Hand(canvas, stage);
  // In the capture phase and kept there: whatever else turns touches into a mouse shall not do it a second time.
  for (const kind of ["touchstart", "touchmove", "touchend", "touchcancel"])
    stage.addEventListener(
      kind,
      (event) => {
        if (event.target !== canvas) return;
        event.preventDefault();
        event.stopPropagation();
        hand[kind](event);
      },
      { capture: true, passive: false },
    );
}

const middle = ([a, b]) => ({ clientX: (a.clientX + b.clientX) / 2, clientY: (a.clientY + b.clientY) / 2 });
const apart = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);

class Hand {
  #canvas;
  #stage;
  #start = null; // where the one finger came down
  #pressed = false;
  #timer = 0;
  #leaving = 0;
  #two = null; // {at, distance, kind} of two fingers; kind "" until they have moved

  constructor(canvas, stage) {
    this.#canvas = canvas;
    this.#stage = stage;
    // A mouse of the machine's own that moves takes over, and its drag is not to be led away.
    for (const kind of ["mousedown", "mousemove"])
      stage.addEventListener(kind, ({ isTrusted }) => isTrusted && clearTimeout(this.#leaving), { capture: true });
  }

  touchstart({ touches }) {
    this.#canvas.focus();
    clearTimeout(this.#leaving);
    if (touches.length === 1) {
      this.#start = touches[0];
      this.#mouse("mousemove", touches[0]);
      this.#timer = setTimeout(() => this.#hold(), HOLD_MS);
    } else if (touches.length === 2) {
      this.#lift(touches[0]);
      this.#two = { at: middle(touches), distance: apart(touches), kind: "" };
    }
  }

  touchmove({ touches }) {
    if (this.#two && touches.length === 2) this.#moveTwo(touches);
    else if (this.#start && touches.length === 1) this.#moveOne(touches[0]);
  }

  touchend({ touches, changedTouches }) {
    if (this.#start) {
      if (!this.#pressed) this.#press(); // a tap
      this.#lift(changedTouches[0]);
    }
    if (touches.length > 0) return;
    this.#two = null;
    this.#linger();
  }

  touchcancel({ changedTouches }) {
    this.#lift(changedTouches[0]);
    this.#two = null;
    this.#linger();
  }

  #moveOne(finger) {
    const moved = Math.hypot(finger.clientX - this.#start.clientX, finger.clientY - this.#start.clientY);
    if (!this.#pressed && moved < STILL_PX) return;
    if (!this.#pressed) this.#press();
    this.#mouse("mousemove", finger);
  }

  #press() {
    clearTimeout(this.#timer);
    this.#pressed = true;
    this.#mouse("mousedown", this.#start);
  }

  #hold() {
    this.#mouse("mousedown", this.#start, 2);
    this.#mouse("mouseup", this.#start, 2);
    this.#start = null;
  }

  #lift(finger) {
    clearTimeout(this.#timer);
    if (this.#pressed) this.#mouse("mouseup", finger);
    this.#pressed = false;
    this.#start = null;
  }

  #linger() {
    clearTimeout(this.#leaving);
    this.#leaving = setTimeout(() => this.#leave(), LINGER_MS);
  }

  // To a place beside the canvas: after "mouseleave" the program would ask where the mouse was last.
  #leave() {
    const { left, top } = this.#canvas.getBoundingClientRect();
    this.#mouse("mousemove", { clientX: left - 10, clientY: top - 10 });
  }

  #moveTwo(touches) {
    const two = this.#two;
    const at = middle(touches);
    const distance = apart(touches);
    const dx = at.clientX - two.at.clientX;
    const dy = at.clientY - two.at.clientY;
    if (!two.kind) {
      const parted = Math.abs(distance - two.distance);
      const moved = Math.hypot(dx, dy);
      if (Math.max(parted, moved) < STILL_PX) return;
      two.kind = parted > moved ? "pinch" : this.#scrolls() ? "pan" : "wheel";
    }
    if (two.kind === "pinch") this.#wheel(at, 0, (two.distance - distance) * WHEEL_PER_PX);
    else if (two.kind === "pan") this.#stage.scrollBy(-dx, -dy);
    else this.#wheel(at, -dx, -dy);
    Object.assign(two, { at, distance });
  }

  #scrolls() {
    return this.#stage.scrollWidth > this.#stage.clientWidth || this.#stage.scrollHeight > this.#stage.clientHeight;
  }

  #mouse(kind, { clientX, clientY }, button = 0) {
    const buttons = kind === "mouseup" || (kind === "mousemove" && !this.#pressed) ? 0 : button === 2 ? 2 : 1;
    this.#canvas.dispatchEvent(new MouseEvent(kind, { ...SENT, clientX, clientY, button, buttons }));
  }

  #wheel({ clientX, clientY }, deltaX, deltaY) {
    this.#canvas.dispatchEvent(new WheelEvent("wheel", { ...SENT, clientX, clientY, deltaX, deltaY, deltaMode: 0 }));
  }
}
