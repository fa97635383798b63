"""A line that keeps what callers say, to say it again later."""

import select
import socket
import threading


class Proxy:
    """Listens at `port` and passes everything on to `target`; `said` has a stream of bytes for
    each connection, in the order in which they came."""

    def __init__(self, port, target):
        self.target = target
        self.said = []
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                caller, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(caller,), daemon=True).start()

    def carry(self, caller):
        said = bytearray()
        self.said.append(said)
        with caller:
            try:
                with socket.create_connection(("127.0.0.1", self.target)) as callee:
                    while self.pass_on(caller, callee, said):
                        pass
            except OSError:
                pass

    @staticmethod
    def pass_on(caller, callee, said):
        ready, _, _ = select.select([caller, callee], [], [])
        for source, sink in ((caller, callee), (callee, caller)):
            if source in ready:
                data = source.recv(1 << 16)
                if not data:
                    return False
                if source is caller and len(said) < 1 << 20:
                    said += data
                sink.sendall(data)
        return True

    def messages(self):
        """The whole messages of all connections so far."""
        found = []
        for said in self.said:
            at = 8  # the greeting
            while at + 8 <= len(said):
                size = int.from_bytes(said[at:at + 8], "big")
                if at + 8 + size > len(said):
                    break
                found.append(bytes(said[at + 8:at + 8 + size]))
                at += 8 + size
        return found

    def close(self):
        self.listener.close()
