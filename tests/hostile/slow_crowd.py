#!/usr/bin/env python3
"""Many on slow lines behind one address: how many of their messages come to their end.

    tests/hostile/slow_crowd.py BUILD [CONNECTIONS]    BUILD is a Meson build folder

So many connections (200) from this host send a run's shard messages of 250 KB at 100 kB/s each, for
15 seconds; who is cut, or turned away, comes again after 50 ms. Together they announce more than
may be held from one address. Fails unless a quarter of what there is room for comes whole, and when
the shard grows by more than 64 MB.
"""

import os
import random
import socket
import struct
import sys
import time

import rude_peers as rude
from live_run import CONFIG, Run

SIZE, RATE, SECONDS, AGAIN_S, PIECE = 250_000, 100_000, 15, 0.05, 16384
HELD_MAX, GROWTH_MOST_MB = 24 << 20, 64


class Sender:
    def __init__(self, port):
        self.port = port
        self.line = None
        self.whole = self.cut = 0
        self.come(random.random() * SIZE / RATE)

    def come(self, later_s):
        """Begins to send so much later."""
        if self.line:
            self.line.close()
        self.left = 0
        self.due = time.monotonic() + later_s
        try:
            self.line = rude.greet(self.port, rude.PUSH)
            self.line.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)
            self.line.setblocking(False)
        except OSError:
            self.line = None

    def go_on(self, now):
        """Sends what its line has taken since."""
        size = min(int((now - self.due) * RATE), PIECE)
        if size < 1024:
            return
        if not self.line:
            self.come(AGAIN_S)
            return
        try:
            if self.left == 0:
                self.line.send(struct.pack(">Q", SIZE))
                self.left = SIZE
            sent = self.line.send(bytes(min(size, self.left)))
            self.left -= sent
            self.due = max(self.due, now - PIECE / RATE) + sent / RATE
            self.whole += self.left == 0
        except BlockingIOError:
            pass
        except OSError:
            self.cut += 1
            self.come(AGAIN_S)


def main():
    run = Run(os.path.abspath(sys.argv[1]), config=CONFIG)
    try:
        run.begin()
        before = most = run.shard.resident_kb()
        count = int(sys.argv[2]) if len(sys.argv) == 3 else 200
        senders = [Sender(run.port + 3) for _ in range(count)]
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for sender in senders:
                sender.go_on(time.monotonic())
            most = max(most, run.shard.resident_kb())
            time.sleep(0.005)
        whole = sum(sender.whole for sender in senders)
        room = min(count, HELD_MAX // SIZE) * RATE * SECONDS // SIZE
        grown_mb = (most - before) / 1024
        print(f"{count} connections: {whole} messages whole, of {room} that there is room for; "
              f"{sum(sender.cut for sender in senders)} cut; {sum(s.whole > 0 for s in senders)} "
              f"sent some; the shard grew by {grown_mb:.1f} MB")
        assert whole >= room / 4 and grown_mb <= GROWTH_MOST_MB
    finally:
        run.end()


if __name__ == "__main__":
    main()
