#!/usr/bin/env python3
"""deploy/kubernetes-ranks for real: a learner of two ranks, each in a pod.

    tests/deploy/kubernetes_node.sh tests/deploy/check_kubernetes_ranks.py

A rank is killed, and the pod of one is taken away; each time all ranks start again, and the run
goes on. The cluster is that of check_kubernetes.py, with its changes; its kubectl knows bases and
patches by the names of before. CHECK_NO_BUILD=1 takes the images that the engine has.
"""

import os
import shutil
import tempfile

from check_kubernetes import KubernetesRun, SETTINGS, build_image, goes_on, kubectl, pods
from deployed_run import Failed, ROOT, leave, learner_steps, say, until

BEFORE = (("resources:\n  - ../kubernetes\n", "bases:\n  - ../kubernetes\nresources:\n"),
          ("patches:\n  - path: ", "patchesStrategicMerge:\n  - "))
PARTING = "as a rank of the learner"


def prepare(run):
    run.make_secrets()
    run.make_volumes()
    run.configure({**SETTINGS, "net": {"rank_timeout_ms": 5000},
                   "learner": {"checkpoint_period_s": 2}}, shards=1)
    run.applied = os.path.join(run.folder, "kubernetes-ranks")
    shutil.copytree(f"{ROOT}/deploy/kubernetes-ranks", run.applied)
    path = f"{run.applied}/kustomization.yaml"
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for now, then in BEFORE:
        if text.count(now) != 1:
            raise Failed(f"where is {now}?")
        text = text.replace(now, then)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def ranks_joined():
    return kubectl("logs", "learner-0", check=False).count(PARTING)


def both_train(run, what, before):
    until(f"{what}: both ranks are there", lambda: ranks_joined() == 1)
    goes_on(run, "it goes on", before, shards=1)


def check_loss(run):
    before = run.now()
    lives = restarts("learner")
    kubectl("exec", "learner-rank-0", "--", "sh", "-c",
            'cd /proc; for pid in [0-9]*; do read -r _ name _ <$pid/stat; '
            'if [ "$name" = "(actorq-learner)" ]; then kill -KILL $pid; fi; done')
    until("a rank was killed, and the learner started again", lambda: restarts("learner") > lives)
    both_train(run, "after the kill", before)

    before = run.now()
    lives = restarts("learner")
    kubectl("delete", "pod", "learner-rank-0", "--grace-period=0", "--force", check=False)
    until("a pod was taken away, and the learner started again",
          lambda: restarts("learner") > lives)
    both_train(run, "after the loss", before)


def restarts(role):
    return sum(one["restartCount"] for pod in pods(role)
               for one in pod["status"].get("containerStatuses", []))


def main():
    with tempfile.TemporaryDirectory(prefix="actorq-check-") as folder:
        os.chmod(folder, 0o755)
        with KubernetesRun(folder) as run:
            build_image()
            build_image("actorq-ranks")
            prepare(run)
            run.apply()
            run.watch()
            run.wait("the learner trains", lambda status: learner_steps(status) > 0, timeout_s=300)
            until("both ranks are there", lambda: ranks_joined() == 1)
            check_loss(run)
            say("PASSED")


if __name__ == "__main__":
    leave(main)
