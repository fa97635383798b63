"""A run under Compose as a test sees it: commands, its status, and what containers said."""

import json
import os
import re
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LEARNER = "tcp://learner:5550"


class Failed(Exception):
    """What was to be seen was not."""


def say(text):
    print(f"[{time.monotonic() - STARTED:6.1f} s] {text}", flush=True)


STARTED = time.monotonic()


def command(arguments, timeout_s=120, check=True, **options):
    done = subprocess.run(arguments, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=timeout_s, check=False, **options)
    if check and done.returncode != 0:
        raise Failed(f"{' '.join(arguments)}: {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def docker(*arguments, **options):
    return command(["docker", *arguments], **options)


class ComposeRun:
    """One project of Compose; `compose` is the command, such as ["docker-compose"]."""

    def __init__(self, compose, project, environment):
        self.compose = compose
        self.project = project
        self.environment = {**os.environ, **environment}
        self.watcher = None
        self.since_s = 0.0

    def call(self, *arguments, timeout_s=120, check=True):
        return command([*self.compose, "-p", self.project, "-f", f"{ROOT}/deploy/compose.yaml",
                        *arguments], timeout_s=timeout_s, check=check, env=self.environment)

    def containers(self, service, running=True):
        """Identities, oldest first."""
        arguments = ["ps", "-q", "--filter", f"label=com.docker.compose.project={self.project}",
                     "--filter", f"label=com.docker.compose.service={service}",
                     "--filter", "label=com.docker.compose.oneoff=False"]
        if not running:
            arguments.append("--all")
        return docker(*arguments).split()[::-1]

    def inspect(self, container):
        return json.loads(docker("inspect", container))[0]

    def said(self, container):
        done = subprocess.run(["docker", "logs", container], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=60, check=False)
        return done.stdout

    def kill(self, container):
        """As the kernel does when memory is out: the engine sees a process that died."""
        pid = self.inspect(container)["State"]["Pid"]
        command(["nsenter", "--target", os.environ["ENGINE_PID"], "--pid", "--mount",
                 "kill", "-KILL", str(pid)])

    def watch(self):
        """Begins to ask for the status of the run every second; see ask()."""
        self.watcher = self.call("run", "--detach", "operator", "actorq", "status", LEARNER,
                                 "--json", "--watch").split()[-1]

    def forget(self):
        """From now on ask() gives nothing that was said before."""
        self.since_s = time.time()

    def ask(self):
        """The newest status of the run, or None when the learner was silent for a while."""
        since_s = max(self.since_s, time.time() - 5)
        line = docker("logs", "--since", f"{since_s:.3f}", "--tail", "1", self.watcher)
        try:
            return json.loads(line)
        except ValueError:
            # It gives up when the first answer does not come; it runs already else.
            docker("start", self.watcher)
            return None

    def wait(self, what, condition, timeout_s=120):
        """Waits until condition(status) is true, and gives that status."""
        end = time.monotonic() + timeout_s
        status = None
        while time.monotonic() < end:
            status = self.ask()
            if status is not None and condition(status):
                say(what)
                return status
            time.sleep(1)
        raise Failed(f"in {timeout_s} s not: {what}\n{json.dumps(status)[:2000]}")


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
