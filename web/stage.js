// The canvas fills the window. In one too small for the program it keeps its least size, and the stage around it
// scrolls.

// The program draws 1024 x 600 at least and scales itself down to that; at 0.75 its small text is still read.
const LEAST = { width: 768, height: 450 };
const MOST_PIXELS = 8e6; // of the drawing buffer: a phone's three-fold display would ask for more than it can draw

/** {width, height} in CSS px, and the ratio of drawing buffer to CSS px. `changed` is called with them at each change. */
export function fitCanvas(canvas, stage, changed) {
  const fit = () => {
    const width = Math.max(Math.floor(stage.clientWidth), LEAST.width);
    const height = Math.max(Math.floor(stage.clientHeight), LEAST.height);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const ratio = Math.min(devicePixelRatio, Math.sqrt(MOST_PIXELS / (width * height)));
    return { width, height, ratio };
  };
  if (changed) {
    let last = "";
    const tell = () => {
      const { width, height, ratio } = fit();
      const now = `${width} ${height} ${ratio}`;
      if (now !== last) changed(width, height, ratio);
      last = now;
    };
    new ResizeObserver(tell).observe(stage);
    watchRatio(tell);
    tell();
  }
  return fit();
}

/** The ratio changes with the browser's zoom and when the window goes to another display. */
function watchRatio(changed) {
  matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener(
    "change",
    () => {
      changed();
      watchRatio(changed);
    },
    { once: true },
  );
}
