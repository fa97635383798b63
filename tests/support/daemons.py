"""Daemons as processes of a test, and how a test waits for what they do.

Python's standard library only.
"""

import os
import re
import signal
import subprocess
import time

PATIENCE_S = 240


def wait_for(what, condition, said=lambda: "", patience_s=PATIENCE_S, pause_s=0.05):
    """What the condition gives once it holds. In vain it fails, with what is said then."""
    end = time.monotonic() + patience_s
    while not (found := condition()):
        assert time.monotonic() < end, f"in vain: {what}\n{said()[-4000:]}"
        time.sleep(pause_s)
    return found


def parent_of(pid):
    """None of one that has ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            state, parent = file.read().rsplit(")", 1)[1].split()[:2]
    except OSError:
        return None
    return None if state == "Z" else int(parent)


def has_ended(pid):
    """Also when nobody has waited for it yet."""
    return parent_of(pid) is None


def below(pid):
    """The processes that a process has started, and those that these have."""
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            children = [int(word) for word in file.read().split()]
    except OSError:
        return []
    return children + [each for child in children for each in below(child)]


class Daemon:
    """One process, its log in a file of its name."""

    def __init__(self, folder, name, command, environment=None, **options):
        self.name = name
        self.log_path = os.path.join(folder, name + ".log")
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(command, env=environment, stdout=log, stderr=log,
                                            **options)

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as file:
            return file.read()

    def heard(self, pattern):
        """What the log says in this place; it is waited for."""
        return wait_for(f"{self.name}: {pattern}", lambda: re.search(pattern, self.log()),
                        self.log, pause_s=0.02)[1]

    def lives(self):
        return self.process.poll() is None

    def resident_kb(self, what="VmRSS"):
        """Now; VmHWM: at most."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(what + r":\s+(\d+)", file.read()).group(1))

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def ask_to_end(self):
        if self.lives():
            self.process.send_signal(signal.SIGTERM)

    def wait_end(self, patience_s=PATIENCE_S):
        """What it left with; its last words when it had to be killed."""
        try:
            return self.process.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"{self.name} did not end:\n{self.log()[-2000:]}") from None

    def end(self):
        """Asked with SIGTERM; what it left with."""
        self.ask_to_end()
        return self.wait_end()

    def kill(self):
        self.process.kill()
        self.process.wait()
