// ?memory=MB: the program may grow to so much and no further. Tests go through the end of memory this way.

const PAGE = 65536;
const pages = (megabytes) => (megabytes * 1048576) / PAGE;

/** A memory for the module, or undefined: it then makes its own. */
export function limitedMemory(asked, linked) {
  if (asked === null || !linked) return undefined;
  const limit = Number(asked);
  if (!Number.isFinite(limit)) return undefined;
  const maximum = Math.min(Math.max(Math.floor(limit), linked.initial_mb), linked.maximum_mb);
  return new WebAssembly.Memory({ initial: pages(linked.initial_mb), maximum: pages(maximum), shared: true });
}
