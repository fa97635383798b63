#!/usr/bin/env python3
"""A sweep on an engine, for real: workers are killed, and no run is lost or counted twice.

    tests/deploy/engine.sh tests/deploy/check_sweep.py COMPOSE_COMMAND...
    tests/deploy/kubernetes_node.sh tests/deploy/check_sweep.py

By deploy/sweep.yaml with Compose, else by deploy/kubernetes-sweep, of whose pods each asks for a
twentieth of a processor and whose claim is a folder of the one node. It takes the image that the
engine has.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

import yaml

from check_kubernetes import USER, kubectl, pods
from compose_run import ComposeRun
from deployed_run import Failed, ROOT, docker, leave, say, until

WORKERS, MORE, RUNS = 3, 4, 20
SPEC = """\
task: gym:CartPole-v1
trials: 12
method: sobol
space:
  learner.learning_rate: {log: [1e-3, 4e-3]}
  learner.n_step: [1, 3]
seeds: {tune: 1, report: 2}
rungs: [8000, 16000]
settings: {evaluator.threshold: 1e9}
"""


def ask(volume, *words):
    """What a program says in a container that has the sweep's folder."""
    return docker("run", "--rm", "--user", str(USER), "--volume", f"{volume}:/runs",
                  "actorq:local", *words)


def reports(volume):
    """The runs that have ended, in the order of the journal."""
    done = subprocess.run(["docker", "run", "--rm", "--volume", f"{volume}:/runs", "actorq:local",
                           "cat", "/runs/first/journal.jsonl"], capture_output=True, text=True,
                          check=False)
    lines = [json.loads(line[9:]) for line in done.stdout.splitlines(keepends=True)
             if line.endswith("\n")]
    return [line["run"] for line in lines if line["event"] == "report"]


def check_end(volume):
    ended = reports(volume)
    status = json.loads(ask(volume, "actorq", "sweep", "status", "/runs/first", "--json"))
    scores = [trial["score"] for trial in status["trials"]]
    if sorted(ended) != list(range(len(ended))) or not status["ended"] or None in scores:
        raise Failed(f"ended {ended}, {status}")
    if len(ended) < RUNS:
        raise Failed(f"only {len(ended)} runs")
    say(f"the sweep ended: {len(ended)} runs, none lost, none twice; "
        f"reported {status['reported']['return']['mean']:.1f}")


# ---- Compose -------------------------------------------------------------------------------------

def by_compose(compose, folder):
    volume = "aqsweep_sweeps"
    with ComposeRun(compose, "aqsweep", {"ACTORQ_SWEEP_SPEC": f"{folder}/spec.yaml"},
                    ("sweep.yaml",)) as run:
        run.call("up", "-d", "--scale", f"worker={WORKERS}", timeout_s=300)
        until(f"{WORKERS} workers", lambda: len(run.containers("worker")) == WORKERS)
        until("runs have ended", lambda: len(reports(volume)) > 2)
        victim = run.containers("worker")[0]
        run.kill(victim)
        until("a worker was killed, and started again", lambda: run.is_back(victim))
        run.call("up", "-d", "--no-recreate", "--scale", f"worker={MORE}", timeout_s=300)
        until(f"{MORE} workers", lambda: len(run.containers("worker", running=False)) == MORE)
        run.call("stop", "worker", timeout_s=120)
        say("all were stopped")
        run.call("start", "worker", timeout_s=120)
        until("all have ended", lambda: not run.containers("worker"), timeout_s=600)
        codes = [run.inspect(one)["State"]["ExitCode"]
                 for one in run.containers("worker", running=False)]
        if codes != [0] * MORE:
            raise Failed(f"workers ended with {codes}")
        check_end(volume)


# ---- Kubernetes ----------------------------------------------------------------------------------

def make_volume(folder):
    path = f"{folder}/volume"
    os.mkdir(path)
    os.chown(path, USER, USER)
    volume = {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "sweeps"},
              "spec": {"capacity": {"storage": "20Gi"}, "accessModes": ["ReadWriteMany"],
                       "hostPath": {"path": path}}}
    kubectl("apply", "--filename", "-", input=json.dumps(volume))
    return path


def job(folder):
    """The objects of the folder, for this cluster, with the spec of this check."""
    for name in os.listdir(f"{ROOT}/deploy/kubernetes-sweep"):
        with open(f"{ROOT}/deploy/kubernetes-sweep/{name}", encoding="utf-8") as file:
            text = SPEC if name == "cluster-sweep.yaml" else file.read()
        with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
            file.write(text)
    found = [one for one in yaml.safe_load_all(kubectl("kustomize", folder)) if one]
    for one in found:
        if one["kind"] == "Job":
            one["spec"] |= {"parallelism": WORKERS, "completions": WORKERS}
            pod = one["spec"]["template"]["spec"]
            for container in pod["initContainers"] + pod["containers"]:
                container["resources"]["requests"]["cpu"] = "50m"
    return yaml.safe_dump_all(found)


def by_kubernetes(folder):
    kubectl("apply", "--filename", f"{ROOT}/deploy/kubernetes/namespace.yaml")
    volume = make_volume(folder)
    kubectl("apply", "--filename", f"{ROOT}/deploy/kubernetes-sweep/sweep-claim.yaml")
    os.mkdir(f"{folder}/applied")
    kubectl("apply", "--filename", "-", input=job(f"{folder}/applied"))
    until(f"{WORKERS} workers", lambda: [
        pod["status"]["phase"] for pod in pods("sweep")] == ["Running"] * WORKERS)
    until("runs have ended", lambda: len(reports(volume)) > 2)
    told = kubectl("exec", "job/sweep", "--", "actorq", "sweep", "status", "/runs/first")
    say(told.splitlines()[0])
    victims = pods("sweep")
    kubectl("delete", "pod", victims[0]["metadata"]["name"], "--grace-period=0", "--force",
            check=False)
    docker("kill", "--signal", "KILL",
           victims[1]["status"]["containerStatuses"][0]["containerID"].split("//")[1])
    say("a pod was taken away, the process of another killed")
    kubectl("wait", "--for=condition=complete", "job/sweep", "--timeout=600s", timeout_s=620)
    check_end(volume)


def main():
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="actorq-check-") as folder:
        os.chmod(folder, 0o755)
        with open(f"{folder}/spec.yaml", "w", encoding="ascii") as file:
            file.write(SPEC)
        if sys.argv[1:]:
            by_compose(sys.argv[1:], folder)
        else:
            by_kubernetes(folder)
    say(f"PASSED in {time.monotonic() - begun:.0f} s")


if __name__ == "__main__":
    leave(main)
