"""What strangers do at a port: each function does it and says in words what came of it.

The wire is spoken by hand here, so that it can be spoken wrongly: SP's greeting and lengths, our
frame with its CRC-32C, and as much of protobuf as a request takes.
"""

import os
import random
import resource
import select
import socket
import ssl
import struct
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from crc32c import crc32c

REQ, PUSH = 0x30, 0x50
RPC_REQUEST, EXPERIENCE = 1, 3
PATIENCE_S = 60


# ---- the wire --------------------------------------------------------------------------------

def frame(kind, payload, version=1):
    checked = struct.pack("<HHI", kind, version, len(payload))
    return b"AQF1" + checked + struct.pack("<I", crc32c(checked + payload)) + payload


def varint(number):
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes(out + bytes([number]))


def request(method, number, body=b"", version=1):
    """A call's frame, as `actorq call` would make it without a token."""
    name = method.encode()
    payload = (b"\x0a" + varint(len(name)) + name + b"\x11" + struct.pack("<Q", number) +
               b"\x18" + varint(5000) + b"\x2a" + varint(len(body)) + body)
    return frame(RPC_REQUEST, payload, version)


def connect(port):
    peer = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return peer


def receive(peer, size):
    data = b""
    while len(data) < size:
        part = peer.recv(size - len(data))
        if not part:
            raise ConnectionResetError
        data += part
    return data


def greet(port, pattern):
    """A connection on which both sides have said who they are."""
    peer = connect(port)
    peer.sendall(struct.pack(">BBBBHH", 0, 0x53, 0x50, 0, pattern, 0))
    receive(peer, 8)
    return peer


def greet_in_tls(port, pattern, certificate):
    """The same, of a member with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(os.path.join(certificate, "ca.pem"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.load_cert_chain(os.path.join(certificate, "cert.pem"),
                            os.path.join(certificate, "key.pem"))
    peer = context.wrap_socket(connect(port))
    peer.sendall(struct.pack(">BBBBHH", 0, 0x53, 0x50, 0, pattern, 0))
    receive(peer, 8)
    return peer


def message(body):
    return struct.pack(">Q", len(body)) + body


def call(peer, body, number=1):
    """A request over REQ, and the answer's frame."""
    peer.sendall(message(struct.pack(">I", 0x80000000 | number) + body))
    size, = struct.unpack(">Q", receive(peer, 8))
    return receive(peer, size)[4:]


def is_closed(peer, wait_s=PATIENCE_S):
    """Whether the other side has ended the connection, within that time."""
    end = time.monotonic() + wait_s
    while time.monotonic() < end:
        ready, _, _ = select.select([peer], [], [], end - time.monotonic())
        try:
            if ready and not peer.recv(65536):
                return True
        except OSError:
            return True
    return False


# ---- what they do ----------------------------------------------------------------------------

def scan(ports, rounds):
    """Connects and goes, politely and with a reset."""
    for i in range(rounds):
        for port in ports:
            peer = connect(port)
            if i % 2:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            peer.close()
    return f"{rounds * len(ports)} connections"


def browse(ports):
    for port in ports:
        with connect(port) as peer:
            peer.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert is_closed(peer), f"port {port} goes on talking to a browser"
    return f"{len(ports)} requests, each closed"


def open_as_many_as_may_be():
    """Of descriptors, in this process. Returns the limits of before."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return soft, hard


def crowd(port, count):
    """Opens `count` connections that say nothing, as far as this process may, and holds them for
    a moment. Returns how many were still there."""
    soft, hard = open_as_many_as_may_be()
    count = min(count, hard - 200)
    held = []
    try:
        for _ in range(count):
            peer = socket.socket()
            peer.setblocking(False)
            peer.connect_ex(("127.0.0.1", port))
            held.append(peer)
            if len(held) % 100 == 0:
                time.sleep(0.01)
        time.sleep(1)
        poll = select.poll()
        for peer in held:
            poll.register(peer, select.POLLIN)
        gone = sum(1 for _, event in poll.poll(0) if event & (select.POLLHUP | select.POLLERR))
    finally:
        for peer in held:
            peer.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return count, count - gone


def greet_slowly(port):
    """Half a greeting and no more; how long that was put up with, in seconds."""
    with connect(port) as peer:
        started = time.monotonic()
        peer.sendall(b"\0SP\0")
        assert is_closed(peer), "half a greeting is enough to stay"
        return time.monotonic() - started


def talk_slowly(port, pattern):
    """A message that comes a byte at a time; how long that was put up with."""
    with greet(port, pattern) as peer:
        started = time.monotonic()
        try:
            peer.sendall(struct.pack(">Q", 60000))
            while not is_closed(peer, 0.5):
                peer.sendall(b"x")
                assert time.monotonic() - started < PATIENCE_S, "it may talk slowly for ever"
        except OSError:
            pass
        return time.monotonic() - started


def shout(port, pattern, total, piece=60000):
    """So many bytes of messages that are noise; says how many were taken. REQ's have the number
    that NNG wants, PUSH's have nothing right but their lengths."""
    noise = random.Random(7).randbytes(piece)
    body = message((struct.pack(">I", 0x80000001) if pattern == REQ else b"") + noise)
    sent = connections = 0
    while sent < total:
        connections += 1
        try:
            with greet(port, pattern) as peer:
                stop = threading.Event()
                reader = threading.Thread(target=drain, args=(peer, stop))
                reader.start()
                try:
                    while sent < total:
                        peer.sendall(body)
                        sent += len(body)
                finally:
                    stop.set()
                    reader.join()
        except OSError:
            continue
    return f"{sent / 1e6:.0f} MB over {connections} connections"


def ask_deafly(port):
    """Calls that are noise, and nobody who takes their answers."""
    started, sent = time.monotonic(), 0
    body = message(struct.pack(">I", 0x80000001) + b"noise")
    with greet(port, REQ) as peer:
        try:
            while time.monotonic() - started < PATIENCE_S:
                sent += peer.send(body * 100)
        except TimeoutError:
            pass
        except OSError:
            return f"closed after {sent // len(body)} calls"
    raise AssertionError("who takes no answers may ask for ever")


def drain(peer, stop):
    """Takes the answers, so that nobody waits for us."""
    while not stop.is_set():
        ready, _, _ = select.select([peer], [], [], 0.1)
        try:
            if ready and not peer.recv(1 << 20):
                return
        except OSError:
            return


def shout_raw(port, total):
    """Noise instead of a greeting, until so much was sent."""
    noise = os.urandom(1 << 16)
    sent = connections = 0
    while sent < total:
        connections += 1
        try:
            with connect(port) as peer:
                while sent < total:
                    sent += peer.send(noise)
        except OSError:
            continue
    return f"{sent / 1e6:.0f} MB over {connections} connections"


def claim(port, pattern, size):
    """A message that says it is that long."""
    with greet(port, pattern) as peer:
        try:
            peer.sendall(struct.pack(">Q", size) + b"x" * 1000)
        except OSError:
            return "closed"
        assert is_closed(peer), f"a message of {size} bytes is waited for"
    return "closed"


def hoard(join, count, announced, sent):
    """So many connections say that a message is that long, bring some of it, and stay for a
    moment; then others come in their place."""
    body = b"x" * sent
    while True:
        peers = []
        for _ in range(count):
            try:
                peers.append(join())
                peers[-1].settimeout(0.5)
                peers[-1].sendall(struct.pack(">Q", announced) + body)
            except OSError:
                pass
        time.sleep(0.2)
        for peer in peers:
            peer.close()


def flood(join, count, size):
    """So many connections bring whole messages of that size, as fast as they are taken."""
    body = message(b"\x80" + b"x" * (size - 1))
    peers, left = [], []
    while True:
        while len(peers) < count:
            try:
                peers.append(join())
                peers[-1].setblocking(False)
                left.append(b"")
            except OSError:
                pass
        _, ready, _ = select.select([], peers, [], 1)
        for peer in ready:
            place = peers.index(peer)
            try:
                left[place] = left[place] or body
                left[place] = left[place][peer.send(left[place][:1 << 17]):]
            except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                pass
            except OSError:
                peer.close()
                del peers[place], left[place]


def shake_halfway(port, count):
    """So many connections begin a TLS handshake and stay for two seconds; then others come in
    their place."""
    open_as_many_as_may_be()
    while True:
        peers = []
        for _ in range(count):
            try:
                peers.append(connect(port))
                peers[-1].sendall(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")
            except OSError:
                pass
        time.sleep(2)
        for peer in peers:
            peer.close()


def ask_on(port, path, count, burst, pause_s, take):
    """So many connections ask for that again and again, `burst` times at once; before it `take`
    takes of the answers what it will."""
    asked = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()
    peers = []
    while True:
        while len(peers) < count:
            peer = socket.socket()
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            try:
                peer.connect(("127.0.0.1", port))
                peers.append(peer)
            except OSError:
                break
        for peer in list(peers):
            try:
                take(peer)
                for _ in range(burst):
                    peer.send(asked, socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass
            except OSError:
                peers.remove(peer)
                peer.close()
        time.sleep(pause_s)


def read_slowly(port, path, count):
    """So many readers ask again and again, and take nothing of the answers."""
    ask_on(port, path, count, 1, 0.25, lambda peer: None)


def pipeline(port, path, count):
    """So many ask faster than they take the answers, and take 30 kB of them every 0.4 s."""
    def take(peer):
        try:
            peer.recv(30000, socket.MSG_DONTWAIT)
        except BlockingIOError:
            pass
    ask_on(port, path, count, 100, 0.4, take)


def present(port, authority, certificate=None):
    """A TLS handshake as somebody with that certificate; "" or why it failed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.load_verify_locations(os.path.join(authority, "ca.pem"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    if certificate:
        context.load_cert_chain(os.path.join(certificate, "cert.pem"),
                                os.path.join(certificate, "key.pem"))
    try:
        with connect(port) as plain, context.wrap_socket(plain) as peer:
            peer.sendall(struct.pack(">BBBBHH", 0, 0x53, 0x50, 0, REQ, 0))
            receive(peer, 8)
    except (ssl.SSLError, OSError) as error:
        return type(error).__name__
    return ""
