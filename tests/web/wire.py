"""Carries the messages of a browser's protocol: over two pipes (Chromium) or a websocket (Firefox), whole texts both.

A wire has send(text), receive(seconds), which returns None where no text came in time, and close(). It raises EOFError
where the browser has ended.
"""

import base64
import os
import select
import socket
import struct
import time


class Pipes:
    """Writes to one pipe and reads from another; a zero byte ends each text."""

    def __init__(self, reads, writes):
        self._from = reads
        self._to = writes
        self._rest = b""

    def send(self, text):
        os.write(self._to, text.encode() + b"\0")

    def receive(self, seconds):
        while b"\0" not in self._rest:
            if not select.select([self._from], [], [], seconds)[0]:
                return None
            part = os.read(self._from, 1 << 20)
            if not part:
                raise EOFError
            self._rest += part
        text, self._rest = self._rest.split(b"\0", 1)
        return text

    def close(self):
        os.close(self._to)
        os.close(self._from)


class WebSocket:
    """Speaks RFC 6455 as a client, as far as texts need it: whole frames out, frames of any kind in."""

    CONTINUATION, TEXT, CLOSE, PING, PONG = 0, 1, 8, 9, 10

    def __init__(self, host, port, path):
        self._socket = socket.create_connection((host, port), timeout=30)
        self._rest = bytearray()
        self._parts = b""  # of a text that comes in several frames
        try:
            self._shake_hands(host, port, path)
        except (OSError, EOFError):
            self.close()
            raise

    def _shake_hands(self, host, port, path):
        key = base64.b64encode(os.urandom(16)).decode()
        head = [
            f"GET {path} HTTP/1.1",
            f"Host: {host}:{port}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
        ]
        self._socket.sendall(("\r\n".join(head) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self._rest:
            self._read()
        answer, _, self._rest = self._rest.partition(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 101"):
            raise OSError(f"no websocket: {answer.splitlines()[0].decode()}")

    def send(self, text):
        self._frame(self.TEXT, text.encode())

    def receive(self, seconds):
        end = time.monotonic() + seconds
        while True:
            while (frame := self._taken()) is None:
                left = end - time.monotonic()
                if left <= 0 or not select.select([self._socket], [], [], left)[0]:
                    return None
                self._read()
            last, kind, body = frame
            if kind == self.CLOSE:
                raise EOFError
            if kind == self.PING:
                self._frame(self.PONG, body)
            elif kind in (self.TEXT, self.CONTINUATION):
                self._parts += body
                if last:
                    text, self._parts = self._parts, b""
                    return text

    def close(self):
        self._socket.close()

    def _read(self):
        part = self._socket.recv(1 << 20)
        if not part:
            raise EOFError
        self._rest += part

    def _frame(self, kind, body):
        """Sends one frame. A client has to mask what it sends by four bytes; Firefox takes zeros for no mask."""
        size = len(body)
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(body))
        if size < 126:
            head = struct.pack("!BB", 128 | kind, 128 | size)
        elif size < 65536:
            head = struct.pack("!BBH", 128 | kind, 128 | 126, size)
        else:
            head = struct.pack("!BBQ", 128 | kind, 128 | 127, size)
        self._socket.sendall(head + mask + masked)

    def _taken(self):
        """Takes a frame out of what was read: (last of its text, kind, bytes); None where it is not there whole."""
        if len(self._rest) < 2:
            return None
        size, begin = self._rest[1] & 127, 2
        if size >= 126:
            form = "!H" if size == 126 else "!Q"
            begin += struct.calcsize(form)
            if len(self._rest) < begin:
                return None
            (size,) = struct.unpack(form, self._rest[2:begin])
        if len(self._rest) < begin + size:
            return None
        first, body = self._rest[0], bytes(self._rest[begin : begin + size])
        del self._rest[: begin + size]
        return bool(first & 128), first & 15, body
