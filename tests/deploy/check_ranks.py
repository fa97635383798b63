#!/usr/bin/env python3
"""A learner of three ranks under Compose, for real.

    tests/deploy/engine.sh tests/deploy/check_ranks.py COMPOSE_COMMAND...

Each rank is in a container of its own. A rank is killed, and the container of another; each time
all of them start again by themselves, and the run goes on from its last checkpoint. Then everything
is stopped in order. CHECK_NO_BUILD=1 takes the images that the engine has.
"""

import os
import sys
import time

from compose_run import ComposeRun
from deployed_run import (Failed, command, docker, end_of, env_steps, leave, learner_steps, say)

OTHERS = 2
SETTINGS = {
    "ACTORQ_TASK": "gym:CartPole-v1",
    "ACTORQ_RANKS": str(OTHERS),
    # It must outlast the check.
    "ACTORQ_SETTINGS": "--set evaluator.threshold=1000000 --set limits.env_steps=1000000000 "
                       "--set replay.tolerance=2000 --set learner.checkpoint_period_s=2 "
                       "--set net.rank_timeout_ms=5000",
    "ACTORQ_DASHBOARD_PORT": "18080",
}
SERVICES = ["learner", "replay", "actor"]


def check_start(run):
    run.start(*SERVICES, timeout_s=3000)
    run.wait("it trains", lambda status: learner_steps(status) > 0)
    for image in ("actorq:local", "actorq-ranks:local"):
        size = int(docker("image", "inspect", "--format", "{{.Size}}", image))
        say(f"{image}: {size / 1e6:.1f} MB")


def learner_said(run, text):
    return run.said(run.containers("learner")[0]).count(text)


def goes_on(run, what, harm):
    """All ranks are there again, and train on from a checkpoint."""
    lives = learner_said(run, "as a rank of the learner") // OTHERS
    resumed = learner_said(run, "event=resumed")
    before = run.now()
    begun = time.monotonic()
    harm()
    end = end_of(120)
    while (learner_said(run, "event=resumed") <= resumed or
           learner_said(run, "as a rank of the learner") < OTHERS * (lives + 1)):
        if time.monotonic() > end:
            raise Failed(f"{what}: {run.said(run.containers('learner', running=False)[0])[-3000:]}")
        time.sleep(0.2)
    say(f"{what}: all {OTHERS + 1} ranks are there again after {time.monotonic() - begun:.1f} s")
    run.forget()
    step = int(before["learner"].get("checkpoint_step", 0))
    run.wait("it goes on", lambda status: learner_steps(status) > step
             and env_steps(status) > env_steps(before))


def kill_rank(run):
    """Without its container, as the kernel does when memory is out."""
    outer = run.inspect(run.containers("learner-rank")[0])["State"]["Pid"]
    entered = ["nsenter", "--target", os.environ["ENGINE_PID"], "--pid", "--mount"]
    listed = command([*entered, "nsenter", "--target", str(outer), "--pid", "--mount", "sh", "-c",
                      'cd /proc && for pid in [0-9]*; do read -r line <$pid/stat && echo "$line"; '
                      "done"])
    pid = next(line.split()[0] for line in listed.splitlines() if "(actorq-learner)" in line)
    command([*entered, "nsenter", "--target", str(outer), "--pid", "--mount", "sh", "-c",
             f"kill -KILL {pid}"])


def check_stop(run):
    learner = run.containers("learner")[0]
    run.call("stop", timeout_s=300)
    about = run.inspect(learner)["State"]
    said = run.said(learner)
    if about["ExitCode"] != 0 or "event=stopping signal=15" not in said:
        raise Failed(f"the learner ended with {about['ExitCode']}:\n{said[-2000:]}")
    say("stopped in order")


def main():
    with ComposeRun(sys.argv[1:], "aqranks", SETTINGS, ("compose.yaml", "ranks.yaml")) as run:
        check_start(run)
        goes_on(run, "a rank was killed", lambda: kill_rank(run))
        goes_on(run, "the container of a rank was killed",
                lambda: run.kill(run.containers("learner-rank")[-1]))
        check_stop(run)
        say("PASSED")


if __name__ == "__main__":
    leave(main)
