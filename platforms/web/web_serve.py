#!/usr/bin/env python3
"""Serves the web program on this computer only, with the headers that threads need.

    make web-serve [ARGS="--port 9000"]

A browser that takes packed files gets what web_finish.py packed (.br, .gz). --bare leaves the two headers out, like a
host that cannot set them; the page's service worker then adds them.
"""

import argparse
import sys
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ISOLATION = {"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Embedder-Policy": "require-corp"}
PACKED = [("br", ".br"), ("gzip", ".gz")]


class Handler(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    bare = False
    quiet = False
    packed = None  # the encoding of the file that is being sent
    extensions_map = SimpleHTTPRequestHandler.extensions_map | {
        ".wasm": "application/wasm",
        ".js": "text/javascript",
        ".json": "application/json",
        ".svg": "image/svg+xml",
        ".data": "application/octet-stream",
        ".txt": "text/plain; charset=utf-8",
    }

    def send_head(self):
        """Does what the base class does, but sends the packed file in place of the plain one where there is one."""
        self.packed = None
        path = Path(self.translate_path(self.path))
        if path.is_dir():
            path /= "index.html"
        accepted = {word.split(";")[0].strip() for word in self.headers.get("Accept-Encoding", "").split(",")}
        for encoding, suffix in PACKED:
            smaller = Path(f"{path}{suffix}")
            if path.is_file() and encoding in accepted and smaller.is_file():
                return self.send_packed(path, smaller, encoding)
        return super().send_head()

    def send_packed(self, path, smaller, encoding):
        self.packed = encoding
        file = smaller.open("rb")
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", self.guess_type(str(path)))
        self.send_header("Content-Length", str(smaller.stat().st_size))
        self.end_headers()
        return file

    def end_headers(self):
        if self.packed:
            self.send_header("Content-Encoding", self.packed)
        self.send_header("Vary", "Accept-Encoding")
        self.send_header("Cache-Control", "no-cache")  # `make web` may have built it anew
        if not self.bare:
            for name, value in ISOLATION.items():
                self.send_header(name, value)
        super().end_headers()

    def log_message(self, *words):
        if not self.quiet:
            super().log_message(*words)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # a page asks for its files all at once

    def handle_error(self, request, client_address):
        """Ignores a browser that closes a connection in the middle, because that is no error of the server."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def make_server(folder, port=0, bare=False, quiet=True):
    """Makes a server on localhost that is not running yet; port 0 takes a free one (server_address says which)."""
    settings = {"bare": bare, "quiet": quiet}

    def handler(*arguments):
        return type("FolderHandler", (Handler,), settings)(*arguments, directory=str(folder))

    return Server(("127.0.0.1", port), handler)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(__file__).resolve().parents[2] / "build/web")
    parser.add_argument("--port", type=int, default=8000, help="8000 by default; 0 takes a free one")
    parser.add_argument("--bare", action="store_true", help="without the headers that threads need")
    options = parser.parse_args()
    if not (options.folder / "index.html").is_file():
        sys.exit(f"web_serve.py: {options.folder} has no index.html; `make web` builds it")
    if not 0 <= options.port <= 65535:
        sys.exit(f"web_serve.py: --port {options.port}: expected 0 to 65535")
    try:
        server = make_server(options.folder, options.port, options.bare, quiet=False)
    except OSError as error:
        sys.exit(f"web_serve.py: port {options.port}: {error.strerror}; --port N takes another one")
    print(f"normscope: http://localhost:{server.server_address[1]}/ (Ctrl+C ends it)", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    main()
