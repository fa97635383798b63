"""What `actorq play` shows: on terminals of each kind, where `logs` goes by the same rule, and in
films as another reader sees them.

    test_play.py ACTORQ
"""

import os
import pty
import subprocess
import sys
import tempfile
import unittest

try:
    from PIL import Image
except ImportError:
    Image = None

ACTORQ = os.path.abspath(sys.argv[1])
WORDS = [ACTORQ, "play", "random", "--env", "game:seaquest?time_limit=12", "--seed", "4"]


def shown_on_a_terminal(words, **variables):
    """All that a command writes to a terminal that has these variables."""
    ours, theirs = pty.openpty()
    known = {name: value for name, value in os.environ.items()
             if name not in ("NO_COLOR", "COLORTERM", "TERM")}
    with subprocess.Popen(words, stdout=theirs, env={**known, **variables}) as run:
        os.close(theirs)
        told = b""
        try:
            while True:
                told += os.read(ours, 65536)
        except OSError:  # the other end is closed
            pass
    os.close(ours)
    return run.returncode, told.decode()


class Play(unittest.TestCase):
    def test_a_terminal_gets_the_colours_that_it_has(self):
        for variables, has, has_not in (
                ({"TERM": "xterm", "COLORTERM": "truecolor"}, "\x1b[38;2;255;255;255m", "8;5;"),
                ({"TERM": "xterm-256color"}, "\x1b[38;5;231m", "8;2;"),
                ({"TERM": "xterm-256color", "NO_COLOR": "1"}, "@", "8;5;"),
                ({"TERM": "dumb", "COLORTERM": "truecolor"}, "@", "8;2;")):
            code, told = shown_on_a_terminal([*WORDS, "--size", "10x10", "--fps", "50"],
                                             **variables)
            self.assertEqual((code, has in told, has_not in told), (0, True, False), variables)

    def test_logs_are_coloured_where_pictures_are(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(folder + "/learner.log", "w", encoding="utf-8") as log:
                log.write("ts=2026-11-20T10:30:38.805Z level=warn role=learner event=stalled\n")
            for variables, is_coloured in (
                    ({"TERM": "xterm-256color"}, True),
                    ({"TERM": "xterm-256color", "NO_COLOR": ""}, True),
                    ({"TERM": "xterm-256color", "NO_COLOR": "1"}, False),
                    ({"TERM": "dumb"}, False)):
                code, told = shown_on_a_terminal([ACTORQ, "logs", folder], **variables)
                self.assertEqual((code, "stalled" in told, "\x1b[" in told),
                                 (0, True, is_coloured), variables)

    @unittest.skipIf(Image is None, "no python3-pil, which reads films")
    def test_another_reader_sees_every_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            film, sheet = folder + "/a.gif", folder + "/a.png"
            subprocess.run([*WORDS, "--gif", film, "--png", sheet, "--size", "40x40", "--fps",
                            "20"], check=True, stdout=subprocess.DEVNULL)
            with Image.open(film) as gif, Image.open(sheet) as png:
                self.assertEqual((gif.size, gif.info["loop"], gif.info["duration"]),
                                 ((40, 40), 0, 50))
                seen, stays_ms = [], []
                for number in range(gif.n_frames):
                    gif.seek(number)
                    stays_ms.append(gif.info["duration"])
                    seen.append(gif.convert("RGB").tobytes())
                drawn = [png.convert("RGB").crop((x, y, x + 40, y + 40)).tobytes()
                         for y in range(0, png.height, 42) for x in range(0, png.width, 42)]
                self.assertEqual(seen, drawn[:13])
                self.assertEqual(stays_ms, 12 * [50] + [550])
                self.assertGreater(len(set(seen)), 5)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
