// The canvas fills the window. In one too small for the program it keeps its least size, and the stage around it
// scrolls.

// The program draws 1024 x 600 at least and scales itself down to that; at 0.75 its small text is still read.
const LEAST = { width: 768, height: 450 };

/** `changed` is called with the canvas's width and height in CSS px, now and at each change. */
export function fitCanvas(canvas, stage, changed) {
  let last = "";
  const tell = () => {
    const width = Math.max(Math.floor(stage.clientWidth), LEAST.width);
    const height = Math.max(Math.floor(stage.clientHeight), LEAST.height);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const now = `${width} ${height}`;
    if (now !== last) changed(width, height);
    last = now;
  };
  new ResizeObserver(tell).observe(stage);
  tell();
}

const HARDLY = 40; // CSS px of the canvas outside of the window that nobody misses

/** Where the canvas is wider than the window, as on a phone: a button that shows its other side. */
export function offerSides(button, stage) {
  const outside = () => stage.scrollWidth - stage.clientWidth;
  const atLeft = () => stage.scrollLeft < outside() / 2;
  const tell = () => {
    button.hidden = outside() <= HARDLY;
    button.textContent = atLeft() ? "Right side ›" : "‹ Left side";
  };
  button.addEventListener("click", () => stage.scrollTo({ left: atLeft() ? outside() : 0 }));
  stage.addEventListener("scroll", tell);
  new ResizeObserver(tell).observe(stage);
  tell();
}
