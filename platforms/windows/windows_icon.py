#!/usr/bin/env python3
"""Puts PNG files of one picture in several sizes into an icon of Windows: windows_icon.py OUT.ico FILE.png..."""

import struct
import sys
from pathlib import Path

pictures = [Path(name).read_bytes() for name in sys.argv[2:]]
head, place = struct.pack("<HHH", 0, 1, len(pictures)), 6 + 16 * len(pictures)
for picture in pictures:
    side = struct.unpack(">I", picture[16:20])[0] % 256  # 256 is written as 0
    head += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(picture), place)
    place += len(picture)
Path(sys.argv[1]).write_bytes(head + b"".join(pictures))
