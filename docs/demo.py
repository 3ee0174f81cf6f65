#!/usr/bin/env python3
"""Draws two pictures in the README from a recorded match by letter: docs/demo.png, the animated one, shows one turn, and
docs/board.png shows the boards in both players' letters after the turn whose text the README has.

    docs/demo.py [PROGRAM] [FOLDER]

The letters and boards are those that `fogpost demo` writes. Chromium draws the frames; this script joins them to an
animated PNG, of which each frame holds only what changed. Python's own library is enough.
"""

import base64
import email
import email.policy
import html
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

TURN = 4
# The report that the README quotes.
QUOTED = 6
WIDTH, HEIGHT = 1000, 640
# Lines of a letter that fit into the window.
ROWS = 27

PAGE = """<!doctype html><meta charset=utf-8><style>
*{{box-sizing:border-box;margin:0}}
body{{width:1000px;height:640px;background:#e9e4d8;font:15px 'DejaVu Sans',sans-serif;color:#22272b;overflow:hidden}}
.mail{{position:absolute;left:18px;top:18px;width:566px;height:560px;background:#fff;border:1px solid #cfc8b8;
border-radius:6px;overflow:hidden}}
.head{{background:#f3efe6;border-bottom:1px solid #e0dbcf;padding:9px 14px;line-height:1.5;font-size:14px}}
.head b{{font-weight:600}}
.head i{{font-style:normal;color:#5b636a;display:inline-block;width:62px}}
pre{{font:12.2px/17.4px 'DejaVu Sans Mono',monospace;padding:11px 14px}}
.old{{color:#8d949a}}.new{{color:#0d665c;font-weight:bold}}
.board{{position:absolute;right:18px;top:18px;width:380px;height:560px;object-fit:cover;object-position:top;
background:#fdfcf8;border:1px solid #cfc8b8;border-radius:6px}}
.foot{{position:absolute;left:18px;right:18px;bottom:14px;font-size:17px;line-height:32px}}
.foot b{{background:#0d665c;color:#fff;border-radius:16px;padding:3px 11px;margin-right:10px;font-weight:600}}
</style><div class=mail><div class=head><i>From</i> <b>{sender}</b><br><i>Subject</i> <b>{subject}</b></div><pre>{text}</pre></div>
<img class=board src="data:image/png;base64,{board}"><p class=foot><b>{number}</b>{caption}</p>"""


BOTH = """<!doctype html><meta charset=utf-8><style>
*{{margin:0}}
body{{width:1000px;height:640px;background:#e9e4d8;font:600 17px 'DejaVu Sans',sans-serif;color:#22272b;overflow:hidden}}
p{{position:absolute;top:14px}}
img{{position:absolute;top:46px;width:474px;height:561px;object-fit:cover;object-position:top;border-radius:6px}}
</style><p style="left:18px">Ann’s letter</p><p style="left:508px">Bo’s letter</p>
<img style="left:18px" src="data:image/png;base64,{first}"><img style="left:508px" src="data:image/png;base64,{second}">"""


class Letter:
    """A letter to a player."""

    def __init__(self, file):
        mail = email.message_from_bytes(file.read_bytes(), policy=email.policy.default)
        self.subject = mail["subject"]
        self.lines = mail.get_body(("plain",)).get_content().splitlines()
        pictures = [part for part in mail.walk() if part.get_content_type() == "image/png"]
        self.board = base64.b64encode(pictures[0].get_content()).decode() if pictures else None


def letter_to(demo, player, end):
    """Returns the letter to a player whose subject ends so."""
    box = demo / f"mail/{player}@players.example"
    found = (Letter(file) for part in ("new", "cur") for file in (box / part).iterdir())
    return next(letter for letter in found if letter.subject.endswith(end))


def letters(demo):
    """Returns Ann's letters about the turn: its report, the receipt of her orders, and the next report."""
    ends = (f"Turn {TURN}: your report", f"Turn {TURN}: sealed", f"Turn {TURN + 1}: your report")
    return [letter_to(demo, "ann", end) for end in ends]


def two_boards(demo):
    """Returns a page with both players' boards of one turn."""
    first, second = (letter_to(demo, player, f"Turn {QUOTED}: your report").board for player in ("ann", "bo"))
    return BOTH.format(first=first, second=second)


def orders(receipt):
    """Returns Ann's orders, as the referee repeats them."""
    end = next(no for no, line in enumerate(receipt.lines) if line.startswith("##"))
    return [line.strip()[2:] for line in receipt.lines[:end] if line.strip().startswith("| ")]


def scenes(demo):
    """Yields the frames: milliseconds, and the values of the page."""
    report, receipt, following = letters(demo)
    referee, escape = "The Demo Club, the referee", html.escape
    text = escape("\n".join(report.lines[:ROWS]))
    first = "A letter opens the turn, with the board as Ann may know it."
    yield 3200, (referee, report.subject, text, report.board, 1, first)
    quoted = [f'<span class=old>{escape("> " + line)}</span>' for line in report.lines]
    written = []
    for line in orders(receipt):
        written.append(f'<span class=new>{escape(line)}</span>')
        body = "\n".join((written + ["", '<span class=old>The Demo Club wrote:</span>'] + quoted)[:ROWS])
        yield 650, ("Ann", "Re: " + report.subject, body, report.board, 2, "She answers it. Her orders stand above the quote.")
    yield 1200, ("Ann", "Re: " + report.subject, body, report.board, 2, "She answers it. Her orders stand above the quote.")
    text = escape("\n".join(receipt.lines[:ROWS]))
    sealed = "The referee checks and seals them. Bo has sent his, too."
    yield 2600, (referee, receipt.subject, text, report.board, 3, sealed)
    start = next(no for no, line in enumerate(following.lines) if line.startswith("What happened"))
    text = escape("\n".join(following.lines[:2] + [""] + following.lines[start:])).split("\n")[:ROWS]
    told = "Both turns are played at once, and each side gets its own report."
    yield 6000, (referee, following.subject, "\n".join(text), following.board, 4, told)


def frame(values):
    """Returns the page of a frame."""
    return PAGE.format(**dict(zip(("sender", "subject", "text", "board", "number", "caption"), values)))


def draw(folder, html_text):
    """Draws a page in Chromium, and returns its rows of RGB."""
    page, shot = folder / "frame.html", folder / "frame.png"
    page.write_text(html_text)
    browser = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    browser += [f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={shot}"]
    subprocess.run(browser + [page.as_uri()], check=True, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    return rows(shot.read_bytes())


def rows(png):
    """Decodes a PNG of 8 bits a channel without interlacing (PNG, third edition, section 9)."""
    at, header, data = 8, None, b""
    while at < len(png):
        length, kind = struct.unpack_from(">I4s", png, at)
        body = png[at + 8 : at + 8 + length]
        at += 12 + length
        if kind == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif kind == b"IDAT":
            data += body
    width, height, depth, colours = header[:4]
    if depth != 8 or colours not in (2, 6):
        sys.exit(f"a screenshot of {depth} bits and colour type {colours}")
    step = {2: 3, 6: 4}[colours]
    data, stride, before, found = zlib.decompress(data), width * step, bytearray(width * step), []
    for row in range(height):
        start = row * (stride + 1)
        how, line = data[start], bytearray(data[start + 1 : start + 1 + stride])
        for x in range(stride if how else 0):
            left = line[x - step] if x >= step else 0
            corner = before[x - step] if x >= step else 0
            line[x] = (line[x] + (0, left, before[x], (left + before[x]) // 2, paeth(left, before[x], corner))[how]) % 256
        before = line
        found.append(bytes(line) if step == 3 else b"".join(line[x : x + 3] for x in range(0, stride, 4)))
    return found


def paeth(left, above, corner):
    guess = left + above - corner
    return min((left, above, corner), key=lambda value: abs(guess - value))


def changed(before, after):
    """Returns the rectangle in which two frames differ: left, top, right, bottom."""
    lines = [no for no in range(HEIGHT) if before[no] != after[no]] or [0]
    top, bottom = lines[0], lines[-1] + 1
    columns = [x for x in range(WIDTH) if any(before[no][3 * x : 3 * x + 3] != after[no][3 * x : 3 * x + 3] for no in lines)]
    return (columns[0], top, columns[-1] + 1, bottom) if columns else (0, 0, 1, 1)


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def palette(frames):
    """Returns up to 256 colours: the most frequent ones, after a cut to 5 bits a channel if there are more."""
    counts = {}
    for frame in frames:
        for row in frame:
            for x in range(0, len(row), 3):
                counts[row[x : x + 3]] = counts.get(row[x : x + 3], 0) + 1
    colours = sorted(counts, key=counts.get, reverse=True)
    chosen = colours[:256]
    nearest = {colour: no for no, colour in enumerate(chosen)}
    for colour in colours[256:]:
        nearest[colour] = min(range(len(chosen)), key=lambda no: sum((a - b) ** 2 for a, b in zip(chosen[no], colour)))
    return chosen, nearest


def animate(frames):
    """Joins frames to an animated PNG that repeats forever."""
    colours, nearest = palette([frame for _, frame in frames])
    out = [b"\x89PNG\r\n\x1a\n", chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 3, 0, 0, 0))]
    out += [chunk(b"PLTE", b"".join(colours)), chunk(b"acTL", struct.pack(">II", len(frames), 0))]
    number = 0
    for no, (milliseconds, frame) in enumerate(frames):
        left, top, right, bottom = changed(frames[no - 1][1], frame) if no else (0, 0, WIDTH, HEIGHT)
        control = (number, right - left, bottom - top, left, top, milliseconds, 1000, 0, 0)
        out.append(chunk(b"fcTL", struct.pack(">IIIIIHHBB", *control)))
        number += 1
        data = b"".join(
            b"\0" + bytes(nearest[row[x : x + 3]] for x in range(3 * left, 3 * right, 3)) for row in frame[top:bottom]
        )
        data = zlib.compress(data, 9)
        if no:
            data = struct.pack(">I", number) + data
            number += 1
        out.append(chunk(b"fdAT" if no else b"IDAT", data))
    return b"".join(out + [chunk(b"IEND", b"")])


def main():
    root = pathlib.Path(__file__).resolve().parent
    program = sys.argv[1] if len(sys.argv) > 1 else root.parent / "target/debug/fogpost"
    target = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else root
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        demo = folder / "demo"
        subprocess.run([program, "demo", "--folder", demo], check=True, stdout=subprocess.DEVNULL)
        pictures = {
            "demo.png": [(time, draw(folder, frame(values))) for time, values in scenes(demo)],
            "board.png": [(0, draw(folder, two_boards(demo)))],
        }
    for name, frames in pictures.items():
        (target / name).write_bytes(animate(frames))
        print(f"{target / name}: {len(frames)} frames, {(target / name).stat().st_size} bytes")


if __name__ == "__main__":
    main()
