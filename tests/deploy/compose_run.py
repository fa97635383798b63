"""A run under Compose as a test sees it: commands, its status, and what containers said."""

import json
import os
import subprocess

from deployed_run import DeployedRun, LEARNER, ROOT, command, docker, say


class ComposeRun(DeployedRun):
    """One project of Compose; `compose` is the command, such as ["docker-compose"], and `files` are
    those of deploy/."""

    def __init__(self, compose, project, environment, files=("compose.yaml",)):
        super().__init__()
        self.compose = compose
        self.files = [word for name in files for word in ("-f", f"{ROOT}/deploy/{name}")]
        self.project = project
        self.environment = {**os.environ, **environment}

    def remove(self):
        super().remove()
        if not os.environ.get("CHECK_KEEP"):
            self.call("down", "--volumes", "--timeout", "5", timeout_s=300, check=False)

    def call(self, *arguments, timeout_s=120, check=True):
        return command([*self.compose, "-p", self.project, *self.files, *arguments],
                       timeout_s=timeout_s, check=check, env=self.environment)

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

    def show_state(self):
        """Who is there, and what each said last."""
        ours = ["--all", "--filter", f"label=com.docker.compose.project={self.project}"]
        say(docker("ps", *ours))
        for name in docker("ps", *ours, "--format", "{{.Names}}").split():
            say(f"{name}:\n" + "\n".join(self.said(name).splitlines()[-5:])[-2000:])

    def kill(self, container):
        """As the kernel does when memory is out: the engine sees a process that died."""
        pid = self.inspect(container)["State"]["Pid"]
        command(["nsenter", "--target", os.environ["ENGINE_PID"], "--pid", "--mount",
                 "kill", "-KILL", str(pid)])

    def is_back(self, container):
        """It has ended, and runs again."""
        about = self.inspect(container)
        return about["RestartCount"] > 0 and about["State"]["Running"]

    def start(self, *services, timeout_s):
        """All, or these, with images that are built unless CHECK_NO_BUILD is set."""
        build = "--no-build" if os.environ.get("CHECK_NO_BUILD") else "--build"
        self.call("up", "-d", build, *services, timeout_s=timeout_s)
        say("up")
        self.watch()

    def watch(self):
        """Begins to ask for the status of the run every second; see newest()."""
        self.watcher = self.call("run", "--detach", "operator", "actorq", "status", LEARNER,
                                 "--json", "--watch").split()[-1]

    def newest(self, since_s):
        said = docker("logs", "--since", f"{since_s:.3f}", "--tail", "1", self.watcher)
        if not said:
            # It gives up when the first answer does not come; it runs already else.
            docker("start", self.watcher)
        return said
