#!/usr/bin/env python3
"""The whole deployment under Compose, for real: see check.sh, which starts the engine for it.

    tests/deploy/check_compose.py COMPOSE_COMMAND...

Every container is killed in turn, actors and shards are scaled up and down, everything is restarted
one after the other and stopped, and after each of these the run must have gone on, without a loss.
"""

import json
import os
import sys
import time

from compose_run import ComposeRun
from deployed_run import (Failed, ROOT, check_resumed, command, docker, drained, env_steps,
                          inserted, kept, leave, learner_steps, members, say, until)

FIRST_STEP_S = float(os.environ.get("CHECK_FIRST_STEP_S", "180"))
IMAGE_BYTES = 120e6
ACTOR_BYTES = 30e6
ROLES = ["replay", "actor", "evaluator", "learner", "prometheus"]
SETTINGS = {
    "ACTORQ_TASK": "gym:CartPole-v1",
    # It must outlast the check.
    "ACTORQ_SETTINGS": "--set evaluator.threshold=1000000 --set replay.tolerance=2000 "
                       "--set limits.env_steps=1000000000",
    "ACTORQ_DASHBOARD_PORT": "18080",
    "ACTORQ_PROMETHEUS_PORT": "19090",
    "ACTORQ_HTTP_NAMES": "run.example.org",
}


def check_start(run):
    begun = time.monotonic()
    run.start(timeout_s=1800)
    run.wait("the learner has made its first step", lambda status: learner_steps(status) > 0)
    took = time.monotonic() - begun
    say(f"first learner step after {took:.1f} s, building included")
    if took > FIRST_STEP_S:
        raise Failed(f"the first step took {took:.0f} s, more than {FIRST_STEP_S:.0f} s")


def check_images():
    for image in ("actorq:local", "actorq-prometheus:local"):
        size = int(docker("image", "inspect", "--format", "{{.Size}}", image))
        say(f"{image}: {size / 1e6:.1f} MB")
        if size > IMAGE_BYTES:
            raise Failed(f"{image} is too large")


def check_health(run):
    def states():
        return {role: [run.inspect(one)["State"]["Health"]["Status"]
                       for one in run.containers(role)] for role in ROLES}

    until("everybody is healthy", lambda: all(set(found) == {"healthy"}
                                              for found in states().values()), 120, found=states)
    for role in ROLES:
        for one in run.containers(role):
            about = run.inspect(one)
            host = about["HostConfig"]
            user = about["Config"]["User"]
            if not host["ReadonlyRootfs"] or user in ("", "0", "root") or not host["Memory"]:
                raise Failed(f"{role}: not as limited as it should be")
    say("read-only roots, no root, limits of memory everywhere")


def page(port, host, path):
    """Status and body of what a browser on the containers' host gets that asks for this name."""
    said = command(["nsenter", "--target", os.environ["ENGINE_PID"], "--net", "curl", "--silent",
                    "--max-time", "30", "--header", f"Host: {host}", "--write-out",
                    "\n%{http_code}", f"http://127.0.0.1:{port}{path}"])
    body, status = said.rsplit("\n", 1)
    return int(status), body


def check_pages():
    port = SETTINGS["ACTORQ_DASHBOARD_PORT"]
    for host, expected in ((f"127.0.0.1:{port}", 200), ("localhost", 200),
                           ("run.example.org", 200), ("stranger.example.org", 421)):
        status, _ = page(port, host, "/")
        if status != expected:
            raise Failed(f"the page at {host}: {status}, not {expected}")
    say("the run's page is given at the names that it has, and at no other")
    port = SETTINGS["ACTORQ_PROMETHEUS_PORT"]

    def seen():
        targets = json.loads(page(port, f"127.0.0.1:{port}", "/api/v1/targets")[1])
        return sorted((one["labels"]["job"], one["health"])
                      for one in targets["data"]["activeTargets"])

    until("Prometheus sees everybody", lambda: seen() == [
        ("actor", "up"), ("actor", "up"), ("evaluator", "up"), ("learner", "up"),
        ("replay", "up")], 60, found=seen)


def check_actor_memory(run):
    for one in run.containers("actor"):
        pid = run.inspect(one)["State"]["Pid"]
        text = command(["nsenter", "--target", os.environ["ENGINE_PID"], "--pid", "--mount",
                        "cat", f"/proc/{pid}/status"])
        resident = int(text.split("VmRSS:")[1].split()[0]) * 1024
        say(f"an actor: {resident / 1e6:.1f} MB resident")
        if resident > ACTOR_BYTES:
            raise Failed("an actor takes too much memory")


def scale_actors(run, count):
    run.call("up", "-d", "--no-recreate", "--scale", f"actor={count}", timeout_s=300)
    run.wait(f"{count} actors", lambda status: len(members(status, "ACTOR")) == count)


def check_scaling(run):
    scale_actors(run, 8)
    scale_actors(run, 3)
    steps = env_steps(run.now())
    run.wait("the run goes on", lambda status: env_steps(status) > steps)

    run.call("up", "-d", "--no-recreate", "--scale", "replay=2", "--scale", "actor=3",
             timeout_s=300)
    run.wait("two shards, and both take in steps",
             lambda status: len(inserted(status)) == 2 and min(inserted(status).values()) > 0)


def check_kill(run, service):
    container = run.containers(service)[0]
    before = run.now()
    run.kill(container)
    until(f"{service}: killed, and started again", lambda: run.is_back(container), timeout_s=60)
    run.forget()
    base = learner_steps(before) if service != "learner" else 0

    after = run.wait("it goes on, and what was acknowledged is there",
                     lambda status: kept(status, before) and learner_steps(status) > base
                     and env_steps(status) > env_steps(before))
    if service == "learner":
        check_resumed(after, before)


def check_rolling_restart(run):
    before = run.now()
    for service in ("actor", "evaluator", "replay", "learner"):
        for container in run.containers(service):
            docker("restart", "--time", "60", container, timeout_s=120)
    run.forget()
    run.wait("restarted one after the other; it goes on",
             lambda status: env_steps(status) > env_steps(before)
             and learner_steps(status) > learner_steps(before)
             and len(members(status, "ACTOR")) == 3 and len(members(status, "REPLAY")) == 2)


def check_stop(run):
    everybody = {role: run.containers(role) for role in ROLES}
    before = run.now()
    begun = time.monotonic()
    run.call("stop", timeout_s=300)
    say(f"stopped in {time.monotonic() - begun:.1f} s")
    for role, containers in everybody.items():
        for one in containers:
            code = run.inspect(one)["State"]["ExitCode"]
            if code != 0:
                raise Failed(f"{role} ended with {code}:\n{run.said(one)[-2000:]}")
    for one in everybody["actor"]:
        account = drained(run.said(one))
        if account is None or not account[0]:
            raise Failed(f"an actor did not drain:\n{run.said(one)[-2000:]}")
        say(f"drained: {account[2]} of {account[1]} steps acknowledged in its last life")
    return before


def check_resume(run, before):
    run.call("start", timeout_s=120)
    run.forget()
    run.wait("started again, it goes on where it was",
             lambda status: learner_steps(status) > learner_steps(before) and kept(status, before))


def main():
    say(f"{' '.join(sys.argv[1:])}, {ROOT}/deploy/compose.yaml")
    with ComposeRun(sys.argv[1:], "aqcheck", SETTINGS) as run:
        check_start(run)
        check_images()
        check_health(run)
        check_pages()
        check_actor_memory(run)
        check_scaling(run)
        for service in ("actor", "evaluator", "replay", "learner"):
            check_kill(run, service)
        check_rolling_restart(run)
        check_resume(run, check_stop(run))
        say("PASSED")


if __name__ == "__main__":
    leave(main)
