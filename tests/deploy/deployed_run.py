"""A deployed run as a test sees it: commands, and the status that its learner gives.

On a machine that is busy with other work every wait is as many times as long as CHECK_PATIENCE says
(1). What is waited for stays the same.
"""

import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEARNER = "tcp://learner:5550"
PATIENCE = float(os.environ.get("CHECK_PATIENCE", "1"))
SILENT_S = 5 * PATIENCE


class Failed(Exception):
    """What was to be seen was not."""


def say(text):
    print(f"[{time.monotonic() - STARTED:6.1f} s] {text}", flush=True)


STARTED = time.monotonic()


def end_of(wait_s):
    """The time.monotonic() at which a wait that begins now has been too long."""
    return time.monotonic() + wait_s * PATIENCE


def until(what, condition, timeout_s=180, found=lambda: ""):
    """Waits until condition() is true, and says so; in vain it fails with what is found then."""
    end = end_of(timeout_s)
    while not condition():
        if time.monotonic() > end:
            raise Failed(f"in {timeout_s * PATIENCE:g} s not: {what} {found()}".rstrip())
        time.sleep(1)
    say(what)


def command(arguments, timeout_s=120, check=True, **options):
    try:
        done = subprocess.run(arguments, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=timeout_s * PATIENCE, check=False, **options)
    except subprocess.TimeoutExpired as expired:
        raise Failed(str(expired)) from expired
    if check and done.returncode != 0:
        raise Failed(f"{' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def docker(*arguments, **options):
    return command(["docker", *arguments], **options)


class DeployedRun:
    """A run with something in it that asks for its status every second; see newest(). What was made
    of it goes with it; who was there is shown before when something was not as it should be."""

    def __init__(self):
        self.since_s = 0.0
        self.watcher = None

    def __enter__(self):
        return self

    def __exit__(self, failure, *_):
        try:
            if failure is Failed:
                self.show_state()
        finally:
            self.remove()

    def show_state(self):
        raise NotImplementedError

    def remove(self):
        if self.watcher:
            docker("rm", "--force", self.watcher, check=False)

    def newest(self, since_s):
        """What was said last by whoever asks for the status, if it was said since then."""
        raise NotImplementedError

    def forget(self):
        """From now on ask() gives nothing that was said before."""
        self.since_s = time.time()

    def ask(self):
        """The newest status of the run, or None when the learner was silent for a while."""
        try:
            return json.loads(self.newest(max(self.since_s, time.time() - SILENT_S)))
        except ValueError:
            return None

    def await_status(self, what, condition, timeout_s=120):
        end = end_of(timeout_s)
        status = None
        while time.monotonic() < end:
            status = self.ask()
            if status is not None and condition(status):
                return status
            time.sleep(1)
        raise Failed(f"in {timeout_s * PATIENCE:g} s not: {what}\n{json.dumps(status)[:2000]}")

    def now(self):
        """The status, as soon as there is one."""
        return self.await_status("a status", lambda status: True)

    def wait(self, what, condition, timeout_s=120):
        """Waits until condition(status) is true, says so, and gives that status."""
        status = self.await_status(what, condition, timeout_s)
        say(what)
        return status


def members(status, role):
    return [one for one in status.get("members", []) if one["role"].endswith(role)]


def learner_steps(status):
    return int(status["learner"].get("learner_steps", 0))


def env_steps(status):
    return int(status["learner"].get("env_steps", 0))


def inserted(status):
    """What each shard has taken in over all its lives, by its store."""
    return {one["replay"]["store"]: int(one["replay"].get("inserted", 0))
            for one in members(status, "REPLAY") if "replay" in one}


def kept(status, before):
    """Each shard has what it had before, at the least."""
    return all(inserted(status).get(store, 0) >= count
               for store, count in inserted(before).items())


def check_resumed(status, before):
    """The learner lost nothing but what came after its last checkpoint."""
    if learner_steps(status) < int(before["learner"].get("checkpoint_step", 0)):
        raise Failed("the learner began anew")


def drained(text):
    """The account with which an actor ended, or None."""
    found = re.findall(r"event=drained complete=(\w+) env_steps=(\d+) acknowledged_steps=(\d+)",
                       text)
    return (found[-1][0] == "true", int(found[-1][1]), int(found[-1][2])) if found else None


def leave(checks):
    """Runs them, and ends the process with what came of it."""
    try:
        checks()
    except (Failed, subprocess.TimeoutExpired) as failure:
        say(f"FAILED: {failure}")
        sys.exit(1)
