"""The worker process: says what the task is, then works whenever it is told to.

It must never outlive the program that started it. The lifeline is a pipe that nobody writes to:
when its other end goes, however the program died, the kernel kills this process, even in mid-step.
"""

import fcntl
import os
import signal
import socket
import sys
import time

from actorq_env import protocol
from actorq_env.protocol import CHANNEL, LIFELINE, MEMORY

ASKING_S = 50e-6
F_SETSIG = 10  # Linux; not in the module fcntl before Python 3.13


def hold_lifeline():
    """Asks the kernel for SIGKILL when the lifeline's other end goes."""
    try:
        fcntl.fcntl(LIFELINE, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(LIFELINE, F_SETSIG, signal.SIGKILL)
        flags = fcntl.fcntl(LIFELINE, fcntl.F_GETFL)
        fcntl.fcntl(LIFELINE, fcntl.F_SETFL, flags | os.O_ASYNC | os.O_NONBLOCK)
        if os.read(LIFELINE, 1) == b"":
            sys.exit("ActorQ is gone")  # before the signal was asked for
    except BlockingIOError:
        pass  # as it should be: nothing to read, nobody gone
    except OSError:
        pass  # the end of the channel is then what ends this process, between two steps


def hello(status, text="", task=None):
    """The first message: what the task is, or why there is none."""
    head = protocol.HELLO_HEAD.pack(protocol.MAGIC, protocol.VERSION, status,
                                    task.draws if task else False,
                                    task.step_limit if task else 0,
                                    task.reward_threshold if task else 0.0)
    spaces = task.observation.packed() + task.action.packed() if task else \
        bytes(2 * protocol.SPACE.size)
    return head + spaces + text.encode("utf-8", "replace")


def next_message(receive, size):
    """Waits for a message. The next round often comes sooner than a sleeping process wakes, so the
    first of that is spent asking, with the core offered to whoever else wants it."""
    asleep = time.perf_counter() + ASKING_S
    while True:
        try:
            return receive(size, socket.MSG_DONTWAIT)
        except BlockingIOError:
            if time.perf_counter() > asleep:
                return receive(size)
            os.sched_yield()


def serve(channel, lanes):
    """Works until there is nobody to work for."""
    receive, send = channel.recv, channel.send
    work, size = protocol.WORK, protocol.WORK.size
    done = protocol.DONE.pack(protocol.MAGIC)
    while True:
        message = next_message(receive, size)
        if len(message) != size:
            return
        first, count = work.unpack(message)
        if count == 0:
            return
        lanes.work(first, count)
        send(done)


def main(arguments):
    """The whole life of a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started it decides
    hold_lifeline()
    channel = socket.socket(fileno=CHANNEL)
    # The channel's end is how ActorQ notices that this process is gone: what an environment starts
    # or forks, which may outlive it, must not hold it open.
    os.set_inheritable(CHANNEL, False)
    os.register_at_fork(after_in_child=channel.close)
    try:
        import numpy  # pylint: disable=unused-import,import-outside-toplevel
    except ImportError as error:
        channel.send(hello(protocol.NO_NUMPY, f"{sys.executable} has no NumPy ({error})"))
        return 1
    from actorq_env import lanes, maker  # pylint: disable=import-outside-toplevel
    try:
        task = maker.Task(arguments[1] if len(arguments) > 1 else "")
        greeting = hello(protocol.OK, task=task)
    except Exception as error:  # pylint: disable=broad-except
        channel.send(hello(protocol.REFUSED,
                           lanes.clipped(lanes.failure_text(error)).decode("utf-8", "ignore")))
        return 1
    channel.send(greeting)
    layout = channel.recv(protocol.LAYOUT.size)
    if not layout:
        return 0
    rows = lanes.Lanes(task, layout, MEMORY)
    try:
        serve(channel, rows)
    except (BrokenPipeError, ConnectionResetError):
        return 0
    rows.close()
    return 0
