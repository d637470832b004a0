// What has to be received before the program can start, counted byte by byte against the sizes that the build
// wrote down.

/** The address of a classic script that was received, once it has run. */
export function runScript(bytes) {
  const address = URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }));
  return new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.onload = () => resolve(address);
    script.onerror = () => reject(new TypeError("a script of the program failed to load"));
    document.head.append(script);
  });
}

const COUNTED = ["normscope.wasm", "normscope.data", "normscope.js"]; // all but a few kB of what comes
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

export class Loading {
  #report;
  #asked = new Map(); // name → the answer, as a promise
  #sizes = {};
  #received = 0;
  memory = null; // what the module was linked with: {initial_mb, maximum_mb}

  /** `report(text, share)` is called as bytes come in; share is 0 to 1. */
  constructor(report) {
    this.#report = report;
  }

  /** Asks for everything at once: on a slow line each file that waited for another would cost a round trip. */
  async begin() {
    for (const name of COUNTED) this.#asked.set(name, this.#ask(name));
    const table = await (await this.#ask("sizes.json")).json();
    this.#sizes = table.files;
    this.memory = table.memory;
  }

  /** The whole file: COUNTED holds its name, as of the module below. */
  async bytes(name) {
    return (await this.#counted(name, "application/octet-stream")).arrayBuffer();
  }

  /** Compiled while it comes in, whatever type the server gives it. */
  compile(name) {
    return WebAssembly.compileStreaming(this.#counted(name, "application/wasm"));
  }

  async #ask(name) {
    const response = await fetch(new URL(name, import.meta.url));
    if (!response.ok) throw new TypeError(`${name}: the server answers ${response.status}`);
    return response;
  }

  // The bytes as they leave the decoder, so that the table's sizes hold whether or not the server compresses.
  async #counted(name, type) {
    const response = await this.#asked.get(name);
    const count = (chunk, controller) => {
      this.#received += chunk.byteLength;
      this.#tell();
      controller.enqueue(chunk);
    };
    const body = response.body.pipeThrough(new TransformStream({ transform: count }));
    return new Response(body, { headers: { "Content-Type": type } });
  }

  #tell() {
    const total = COUNTED.reduce((sum, name) => sum + (this.#sizes[name]?.bytes ?? 0), 0);
    const complete = this.#received >= total;
    const text = complete ? "Received; compiling" : `${megabytes(this.#received)} of ${megabytes(total)} MB`;
    this.#report(text, Math.min(1, this.#received / total));
  }
}
