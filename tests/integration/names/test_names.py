"""Names with several addresses, as programs meet them: localhost is ::1 and 127.0.0.1 here, and
nobody listens at the first. It has an /etc of its own, in a mount namespace; a machine that allows
nobody to make one is told so, with status 77.

    test_names.py LEARNER REPLAY ACTOR ACTORQ [unittest's arguments]
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from daemons import PATIENCE_S, Daemon

SKIPPED = 77
APART = "AQ_TEST_NAMES_APART"
LEARNER, REPLAY, ACTOR, ACTORQ = sys.argv[1:5] if len(sys.argv) > 4 else [""] * 4
HOSTS = "::1 localhost\n127.0.0.1 localhost\n127.0.0.3 head\n127.0.0.2 head\n127.0.0.1 head\n"


def go_apart():
    """Starts this program anew where it may have another /etc."""
    ways = (["--mount"], ["--user", "--map-root-user", "--mount"])
    for wanted in ways if shutil.which("unshare") and shutil.which("mount") else ():
        command = ["unshare", *wanted]
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode == 0:
            os.environ[APART] = "1"
            os.execvp(command[0], [*command, sys.executable, *sys.argv])
    print("skipped: this machine lets nobody have mounts of his own (unshare --mount)")
    sys.exit(SKIPPED)


def plant_names(home):
    """An /etc with these names, also where there is no /etc/hosts."""
    made = home + "/etc"
    os.mkdir(made)
    for name in ("ld.so.cache", "passwd", "group", "localtime"):
        if os.path.exists("/etc/" + name):
            shutil.copy("/etc/" + name, made)
    for name, text in (("hosts", HOSTS), ("host.conf", "multi on\n"),
                       ("nsswitch.conf", "hosts: files\n")):
        with open(f"{made}/{name}", "w", encoding="ascii") as file:
            file.write(text)
    subprocess.run(["mount", "--bind", made, "/etc"], check=True)


class TestNames(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="actorq-names-")
        self.daemons = {}
        # Nobody else's, and closed to all: it is bound and not listened at.
        self.closed = socket.socket()
        self.closed.bind(("127.0.0.1", 0))
        self.nobody = f"localhost:{self.closed.getsockname()[1]}"

    def tearDown(self):
        self.closed.close()
        for daemon in self.daemons.values():
            daemon.kill()
        shutil.rmtree(self.home)

    def start(self, role, *command):
        self.daemons[role] = Daemon(self.home, role, command)
        return self.daemons[role]

    def run_actorq(self, *words):
        """(status, what it said) of a command."""
        done = subprocess.run([ACTORQ, *words], capture_output=True, text=True, check=False,
                              timeout=PATIENCE_S)
        return done.returncode, done.stdout + done.stderr

    def plan_run(self):
        """Of some steps."""
        with open(self.home + "/c.yaml", "w", encoding="utf-8") as file:
            file.write("task: gym:CartPole-v1\nlimits: {env_steps: 4000}\n")

    def start_learner(self, listen):
        """A run; its learner and the port."""
        self.plan_run()
        learner = self.start("learner", LEARNER, "--config", self.home + "/c.yaml", "--listen",
                             listen, "--run", self.home + "/run", "--http", "127.0.0.1:0",
                             "--insecure")
        return learner, learner.heard(r"event=ready .* url=tcp://\S+:(\d+) ")

    def run_by_name(self, name, listen):
        """A whole run whose members know the learner by this name."""
        learner, port = self.start_learner(listen)
        url = f"tcp://{name}:{port}"
        status, said = self.run_actorq("status", url, "--timeout-ms", "240000")
        self.assertEqual(status, 0, said)
        self.start("replay", REPLAY, "--learner", url, "--insecure")
        actor = self.start("actor", ACTOR, "--learner", url)
        self.assertEqual(learner.process.wait(PATIENCE_S), 0)
        actor.heard(r"event=(shard_connected)")

    def test_a_run_at_localhost(self):
        self.run_by_name("localhost", "tcp://127.0.0.1:0")

    def test_a_run_at_a_name_with_three_addresses(self):
        self.run_by_name("head", "tcp://127.0.0.1:0")

    def test_a_run_that_listens_everywhere(self):
        self.run_by_name("localhost", "tcp://*:0")

    def test_health_is_asked_by_name(self):
        learner, _ = self.start_learner("tcp://127.0.0.1:0")
        port = learner.heard(r"event=http_ready url=http://\S+:(\d+)")
        self.assertEqual(self.run_actorq("health", f"localhost:{port}", "--timeout-ms", "240000"),
                         (0, "ok\n"))

    def test_ports_that_the_system_chooses_need_not_be_neighbours(self):
        """In a network of its own, where each second of four ports is taken."""
        alone = ["unshare", "--net", "sh", "-c", "ip link set lo up && echo 40000 40003 "
                 ">/proc/sys/net/ipv4/ip_local_port_range && exec \"$@\"", "sh"]
        if subprocess.run([*alone, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("this machine lets nobody have a network of his own (unshare --net)")
        taken = ("import os, socket, sys; taken = [socket.create_server(('127.0.0.1', port)) "
                 "for port in (40001, 40003)]; "
                 "[each.set_inheritable(True) for each in taken]; "
                 "os.execv(sys.argv[1], sys.argv[1:])")
        self.plan_run()
        learner = self.start("learner", *alone, sys.executable, "-c", taken, LEARNER, "--config",
                             self.home + "/c.yaml", "--listen", "tcp://127.0.0.1:0", "--run",
                             self.home + "/run")
        learner.heard(r"event=(ready) .* url=tcp://127.0.0.1:4000[02] "
                      r"policy_url=tcp://127.0.0.1:4000[02] ")

    def test_a_command_says_what_came_of_each_address(self):
        words = "localhost is ::1, 127.0.0.1; ::1: refused; 127.0.0.1: refused"
        for command in (["call", "tcp://" + self.nobody, "Operations/Status", "--timeout-ms",
                         "20000"], ["health", self.nobody, "--timeout-ms", "20000"]):
            status, said = self.run_actorq(*command)
            self.assertEqual(status, 1)
            self.assertIn(words, said)
        status, said = self.run_actorq("health", "nowhere.test:1")
        self.assertEqual(status, 1)
        self.assertIn("Name or service not known", said)

    def test_a_daemon_says_what_came_of_each_address(self):
        for role, program in (("actor", ACTOR), ("replay", REPLAY)):
            daemon = self.start(role, program, "--learner", "tcp://" + self.nobody)
            daemon.heard(r"event=learner_unreachable .*reason=\".*"
                         r"(: localhost is ::1, 127\.0\.0\.1; ::1: refused; 127\.0\.0\.1: refused)")


def main():
    if not os.environ.get(APART):
        go_apart()
    home = tempfile.mkdtemp(prefix="actorq-names-")
    try:
        plant_names(home)
        unittest.main(argv=sys.argv[:1] + sys.argv[5:], verbosity=2)
    finally:
        subprocess.run(["umount", "/etc"], check=False)
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
