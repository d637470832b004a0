"""A page that shows one widget of a real kernel, without a notebook's server: it gives widget.js a model, as anywidget does,
that speaks with the kernel by this process."""
from __future__ import annotations

import http.server
import json
import queue
import threading
from typing import Any

PAGE = """<!doctype html><meta charset="utf-8"><title>widget</title><body><div id="here"></div><script type="module">
import widget from "/widget.js";
const state = await (await fetch("/state")).json(), heard = {};
const model = {
  get: (name) => state[name],
  on: (name, call) => (heard[name] ??= new Set()).add(call),
  off: (name, call) => heard[name]?.delete(call),
  send: (content) => {
    window.sent ||= performance.now();
    fetch("/message", { method: "POST", body: JSON.stringify(content) });
  },
};
new EventSource("/updates").onmessage = ({ data }) => {
  const changed = JSON.parse(data);
  Object.assign(state, changed);
  for (const name of Object.keys(changed)) for (const call of heard[`change:${name}`] ?? []) call();
};
window.leave = widget.render({ model, el: document.getElementById("here") });
</script>"""


class NotebookPage:
    """Serves the page for the widget that was made last in a kernel that is started for it."""

    def __init__(self, environment: "dict[str, str]", folder: str) -> None:
        from jupyter_client.manager import start_new_kernel

        self.manager, self.client = start_new_kernel(kernel_name="python3", env=environment, cwd=folder)
        self.state: "dict[str, Any]" = {}
        self.comm = ""
        self.said = ""
        self.idle: "queue.SimpleQueue[str]" = queue.SimpleQueue()
        self._pages: "list[queue.SimpleQueue[dict[str, Any]]]" = []  # of each what it has not heard
        self._sends = threading.Lock()
        self._ended = False
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def close(self) -> None:
        if self._ended:
            return
        self._ended = True
        self._listener.join()  # no two threads may use its socket
        self._server.shutdown()
        self._server.server_close()
        self.client.stop_channels()
        self.manager.shutdown_kernel()

    def run(self, code: str) -> str:
        """Executes a cell, and returns what it printed, or raises what it raised."""
        self.said = ""
        with self._sends:
            number = self.client.execute(code)
        while self.idle.get(timeout=60) != number:
            pass
        return self.said

    def _listen(self) -> None:
        while not self._ended:
            try:
                message = self.client.get_iopub_msg(timeout=0.2)
            except queue.Empty:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                self.said += content["text"]
            elif kind == "error":
                self.said += content["evalue"]
            elif kind == "status" and content["execution_state"] == "idle":
                self.idle.put(message["parent_header"].get("msg_id", ""))
            elif kind == "comm_open" and "_esm" in content["data"].get("state", {}):
                self.comm, self.state = content["comm_id"], content["data"]["state"]
            elif kind == "comm_msg" and content["comm_id"] == self.comm and content["data"]["method"] == "update":
                self.state.update(content["data"]["state"])
                for updates in self._pages:
                    updates.put(content["data"]["state"])

    def _send(self, content: Any) -> None:
        data = {"comm_id": self.comm, "data": {"method": "custom", "content": content}}
        with self._sends:
            self.client.shell_channel.send(self.client.session.msg("comm_msg", data))

    def _handler(self) -> "type[http.server.BaseHTTPRequestHandler]":
        page = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                """Says nothing."""

            def begin(self, kind: str) -> None:
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.end_headers()

            def do_GET(self) -> None:
                if self.path == "/updates":
                    return self.follow()
                kind, text = {"/": ("text/html", PAGE), "/state": ("application/json", json.dumps(page.state)),
                              "/widget.js": ("text/javascript", page.state["_esm"])}.get(self.path, ("text/plain", ""))
                self.begin(kind)
                self.wfile.write(text.encode())

            def follow(self) -> None:
                """Sends what is, and then what changes."""
                self.begin("text/event-stream")
                updates: "queue.SimpleQueue[dict[str, Any]]" = queue.SimpleQueue()
                page._pages.append(updates)
                updates.put(dict(page.state))
                while not page._ended:
                    try:
                        self.wfile.write(f"data: {json.dumps(updates.get(timeout=0.2))}\n\n".encode())
                    except queue.Empty:
                        continue
                    except OSError:  # the page is closed
                        return

            def do_POST(self) -> None:
                page._send(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.begin("text/plain")

        return Handler
