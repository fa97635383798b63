#!/usr/bin/env python3
"""deploy/kubernetes for real, on the cluster that kubernetes_node.sh starts for it.

    tests/deploy/kubernetes_node.sh tests/deploy/check_kubernetes.py

Builds the image, and does as the page in docs/ says: namespace, secrets, apply. Then
actors and shards are scaled, pods are evicted, deleted and killed, everything is rolled over,
settings are changed, and all is deleted and applied again; after each of these the run must have
gone on, without a loss.

Three things are changed, for this cluster alone. It has two processors, so pods ask for a twentieth
of one; it provides no volumes, so folders are made; and Kubernetes 1.20 calls autoscalers and
disruption budgets by the names from before they were final.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

import yaml

from deployed_run import (DeployedRun, Failed, LEARNER, ROOT, check_resumed, command, docker,
                          env_steps, inserted, kept, leave, learner_steps, members, say, until)

BEFORE_FINAL = {"autoscaling/v2": "autoscaling/v2beta2", "policy/v1": "policy/v1beta1"}
NAME_SERVER = "172.17.0.1"
USER = 10001
ROLES = ("learner", "replay", "actor", "evaluator", "operator")
# It must outlast the check.
SETTINGS = {"evaluator": {"threshold": 1000000}, "limits": {"env_steps": 1000000000}}


def kubectl(*arguments, **options):
    return command(["kubectl", "--namespace", "actorq", *arguments], **options)


def objects(*arguments):
    return json.loads(kubectl("get", *arguments, "--output", "json"))["items"]


def pods(role):
    return sorted((one for one in objects("pods", "--selector",
                                          f"app.kubernetes.io/component={role}")
                   if "deletionTimestamp" not in one["metadata"]),
                  key=lambda one: one["metadata"]["name"])


def is_ready(pod):
    return any(one["type"] == "Ready" and one["status"] == "True"
               for one in pod["status"].get("conditions", []))


class KubernetesRun(DeployedRun):
    """The objects of deploy/kubernetes, and a folder for what belongs to them."""

    def __init__(self, folder):
        super().__init__()
        self.folder = folder
        self.kustomization = self.applied = os.path.join(folder, "kubernetes")
        self.made = os.path.join(folder, "made")
        self.operator = None
        shutil.copytree(f"{ROOT}/deploy/kubernetes", self.kustomization)

    def show_state(self):
        say(kubectl("get", "pods,hpa,pdb,endpoints,pvc", "--output", "wide", check=False))
        say(kubectl("get", "events", "--sort-by=.lastTimestamp", check=False)[-4000:])
        for pod in objects("pods"):
            if not is_ready(pod):
                name = pod["metadata"]["name"]
                say(f"{name}:\n" + kubectl("logs", "--tail=5", name, check=False))

    def certify(self, *options):
        docker("run", "--rm", "--volume", f"{self.made}:/made", "actorq:local",
               "actorq", "certs", "/made/secrets", *options)

    def secret(self, role, *options):
        return kubectl("create", "secret", "generic", f"actorq-{role}",
                       f"--from-file={self.made}/secrets/{role}", *options)

    def make_secrets(self):
        """With the commands of the page, as are they made anew."""
        os.mkdir(self.made)
        os.chmod(self.made, 0o777)
        self.certify()
        kubectl("apply", "--filename", f"{self.kustomization}/namespace.yaml")
        for role in ROLES:
            self.secret(role)
        self.operator = f"{self.made}/secrets/operator"

    def renew_secrets(self):
        self.certify("--renew")
        for role in ROLES:
            kubectl("apply", "--filename", "-",
                    input=self.secret(role, "--dry-run=client", "--output", "yaml"))

    def make_volumes(self):
        for name in ("runs", "first", "second", "third"):
            folder = os.path.join(self.folder, "volumes", name)
            os.makedirs(folder)
            os.chown(folder, USER, USER)
            volume = {"apiVersion": "v1", "kind": "PersistentVolume",
                      "metadata": {"name": name},
                      "spec": {"capacity": {"storage": "20Gi"}, "accessModes": ["ReadWriteOnce"],
                               "hostPath": {"path": folder}}}
            kubectl("apply", "--filename", "-", input=json.dumps(volume))

    def configure(self, settings, shards):
        self.replace("replay.yaml", "replicas: 2", f"replicas: {shards}")
        with open(f"{ROOT}/deploy/kubernetes/cluster-run.yaml", encoding="utf-8") as file:
            about = {**yaml.safe_load(file), **settings}
        with open(f"{self.kustomization}/cluster-run.yaml", "w", encoding="utf-8") as file:
            yaml.safe_dump({**about, "replay": {"shards": shards}}, file)

    def replace(self, name, old, new):
        with open(f"{ROOT}/deploy/kubernetes/{name}", encoding="utf-8") as file:
            text = file.read()
        if text.count(old) != 1:
            raise Failed(f"{name}: where is '{old}'?")
        with open(f"{self.kustomization}/{name}", "w", encoding="utf-8") as file:
            file.write(text.replace(old, new))

    def built(self):
        """What `kubectl apply -k` would apply, as this cluster takes it."""
        text = kubectl("kustomize", self.applied)
        found = [one for one in yaml.safe_load_all(text) if one]
        for one in found:
            one["apiVersion"] = BEFORE_FINAL.get(one["apiVersion"], one["apiVersion"])
            if one["kind"] in ("StatefulSet", "Deployment"):
                for container in one["spec"]["template"]["spec"]["containers"]:
                    container["resources"]["requests"]["cpu"] = "50m"
        return yaml.safe_dump_all(found)

    def apply(self):
        kubectl("apply", "--filename", "-", input=self.built())

    def delete(self):
        kubectl("delete", "--filename", "-", input=self.built(), timeout_s=180)

    def watch(self):
        self.watcher = docker(
            "run", "--detach", "--dns", NAME_SERVER, "--dns-search", "actorq.svc.cluster.local",
            "--user", "0", "--restart", "on-failure",
            "--volume", f"{self.operator}:/certs/operator:ro", "actorq:local", "actorq", "status",
            LEARNER, "--certs", "/certs/operator", "--json", "--watch").strip()

    def newest(self, since_s):
        return docker("logs", "--since", f"{since_s:.3f}", "--tail", "1", self.watcher)


def goes_on(run, what, before, actors=2, shards=2):
    """The run steps and learns on, with everything that its shards had acknowledged."""
    run.forget()
    now = run.now()

    def condition(status):
        return (kept(status, before) and learner_steps(status) > learner_steps(now)
                and env_steps(status) > env_steps(before)
                and len(members(status, "ACTOR")) == actors
                and len(members(status, "REPLAY")) == shards)

    check_resumed(run.wait(what, condition), before)


def build_image(target="actorq"):
    if os.environ.get("CHECK_NO_BUILD"):
        return
    mirrors = [f"--build-arg={name}={os.environ[name]}"
               for name in ("APT_MIRROR", "APT_SECURITY_MIRROR", "APT_CONF") if name in os.environ]
    docker("build", "--file", f"{ROOT}/deploy/Dockerfile", "--target", target,
           "--tag", f"{target}:local", *mirrors, ROOT, timeout_s=1800)
    say("the image is built")


def check_start(run):
    begun = time.monotonic()
    run.make_secrets()
    run.make_volumes()
    run.configure(SETTINGS, shards=2)
    run.apply()
    run.watch()
    run.wait("the learner trains", lambda status: learner_steps(status) > 0, timeout_s=300)
    say(f"first learner step after {time.monotonic() - begun:.1f} s, the image being there")
    until("two actors: the autoscaler's least",
          lambda: [is_ready(one) for one in pods("actor")] == [True, True])
    until("everybody is ready", lambda: all(is_ready(one) for role in
                                            ("learner", "replay", "actor", "evaluator")
                                            for one in pods(role)))


def check_confined():
    for role in ("learner", "replay", "actor", "evaluator"):
        name = pods(role)[0]["metadata"]["name"]
        status = kubectl("exec", name, "--", "cat", "/proc/1/status")
        if status.split("Uid:")[1].split()[:4] != [str(USER)] * 4:
            raise Failed(f"{name} runs as somebody else")
        wrote = subprocess.run(["kubectl", "-n", "actorq", "exec", name, "--", "sh", "-c", ": >/x"],
                               capture_output=True, check=False)
        if wrote.returncode == 0:
            raise Failed(f"{name} can write to its root")
    say("nobody is root, nobody writes to its root")


def check_from_outside(run):
    """The page of the run and its status, by the commands in docs/."""
    forward = subprocess.Popen(["kubectl", "-n", "actorq", "port-forward", "statefulset/learner",
                                "8080", "5550"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def page():
        try:
            with urllib.request.urlopen("http://127.0.0.1:8080/", timeout=5) as answer:
                return b"<html" in answer.read()
        except (urllib.error.URLError, ConnectionError):
            return False

    try:
        until("the page is there", page, timeout_s=30)
        status = json.loads(docker(
            "run", "--rm", "--network", "host", "--user", "0", "--volume",
            f"{run.operator}:/operator:ro", "actorq:local", "actorq", "status",
            "tcp://127.0.0.1:5550", "--certs", "/operator", "--json"))
        if learner_steps(status) == 0:
            raise Failed("the status is of another run")
        say("and the status")
    finally:
        forward.terminate()
        forward.wait()


def check_scaling(run):
    kubectl("scale", "deployment/actor", "--replicas=5")
    run.wait("five actors", lambda status: len(members(status, "ACTOR")) == 5)
    kubectl("scale", "statefulset/replay", "--replicas=3")
    run.wait("three shards, and all take in steps",
             lambda status: len(inserted(status)) == 3 and min(inserted(status).values()) > 0)
    kubectl("scale", "deployment/actor", "--replicas=2")
    run.wait("two actors", lambda status: len(members(status, "ACTOR")) == 2)


def evict(name):
    about = {"apiVersion": "policy/v1beta1", "kind": "Eviction",
             "metadata": {"name": name, "namespace": "actorq"}}
    return subprocess.run(["kubectl", "create", "--filename", "-", "--raw",
                           f"/api/v1/namespaces/actorq/pods/{name}/eviction"], text=True,
                          input=json.dumps(about), capture_output=True, check=False)


def check_budget(run):
    until("a shard may be evicted", lambda: kubectl(
        "get", "poddisruptionbudget", "replay", "--output=jsonpath={.status.disruptionsAllowed}"
        ) == "1")
    before = run.now()
    first, second = evict("replay-0"), evict("replay-1")
    if first.returncode != 0:
        raise Failed(f"replay-0 could not be evicted: {first.stderr}")
    if second.returncode == 0 or "disruption budget" not in second.stderr:
        raise Failed(f"two shards could be evicted at once: {second.stdout}{second.stderr}")
    goes_on(run, "one shard was evicted, a second was not; it goes on", before, shards=3)


def check_loss(run, role):
    """A pod that is gone at once, as with its node; then a process that dies."""
    before = run.now()
    gone = pods(role)[-1]["metadata"]
    kubectl("delete", "pod", gone["name"], "--grace-period=0", "--force", check=False)
    until(f"{role}: a pod was taken away", lambda: all(one["metadata"]["uid"] != gone["uid"]
                                                       for one in pods(role)))
    goes_on(run, f"{role}: without it, it goes on", before, shards=3)

    until(f"{role}: all are ready", lambda: all(is_ready(one) for one in pods(role)))
    before = run.now()
    pod = pods(role)[-1]
    name = pod["metadata"]["name"]
    container = pod["status"]["containerStatuses"][0]
    docker("kill", "--signal", "KILL", container["containerID"].split("//")[1])
    until(f"{role}: a process was killed, and started again", lambda: kubectl(
        "get", "pod", name, "--output=jsonpath={.status.containerStatuses[0].restartCount}"
        ) == str(container["restartCount"] + 1))
    goes_on(run, f"{role}: it goes on", before, shards=3)


def check_rollout(run):
    before = run.now()
    run.renew_secrets()
    for one in ("deployment/actor", "deployment/evaluator", "statefulset/replay",
                "statefulset/learner"):
        kubectl("rollout", "restart", one)
        kubectl("rollout", "status", one, "--timeout=170s", timeout_s=180)
    goes_on(run, "all were restarted one after the other, with new certificates; it goes on",
            before, shards=3)


def check_settings(run):
    before = run.now()
    names = {one["metadata"]["name"] for one in objects("configmaps")}
    run.configure(SETTINGS, shards=3)
    run.apply()
    kubectl("rollout", "status", "statefulset/learner", "--timeout=170s", timeout_s=180)
    if {one["metadata"]["name"] for one in objects("configmaps")} == names:
        raise Failed("the settings are as they were")
    goes_on(run, "settings were changed; it goes on", before, shards=3)


def check_again(run):
    """What is deleted leaves its claims and secrets, and goes on when it is applied again."""
    before = run.now()
    claims = {one["metadata"]["name"] for one in objects("persistentvolumeclaims")}
    run.delete()
    until("deleted", lambda: not objects("pods"))
    left = {one["metadata"]["name"] for one in objects("persistentvolumeclaims")}
    if left != claims or len(claims) != 4:
        raise Failed(f"claims were {claims} and are {left}")
    run.apply()
    goes_on(run, "applied again; it goes on where it was", before, shards=3)


def check_exits():
    """Since the pods of now were made, no container has ended with an error."""
    for role in ("learner", "replay", "actor", "evaluator"):
        for pod in pods(role):
            last = pod["status"]["containerStatuses"][0]["lastState"].get("terminated")
            if last and last["exitCode"] != 0:
                name = pod["metadata"]["name"]
                raise Failed(f"{name} ended with {last['exitCode']}:\n"
                             f"{kubectl('logs', '--previous', name)[-2000:]}")
    say("nobody ended with an error")


def main():
    with tempfile.TemporaryDirectory(prefix="actorq-check-") as folder:
        os.chmod(folder, 0o755)
        with KubernetesRun(folder) as run:
            say(re.sub(r"\s+", " ", command(["kubectl", "version", "--short"])))
            build_image()
            check_start(run)
            check_confined()
            check_from_outside(run)
            check_scaling(run)
            check_budget(run)
            check_exits()
            for role in ("actor", "evaluator", "replay", "learner"):
                check_loss(run, role)
            check_rollout(run)
            check_settings(run)
            check_again(run)
            check_exits()
            say("PASSED")


if __name__ == "__main__":
    leave(main)
