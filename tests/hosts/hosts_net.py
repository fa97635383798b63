"""Hosts on one machine: network namespaces on a switch, and lines between them that misbehave.

Everything lives in name spaces of its own, which `isolate` makes before anything else: of networks,
so that no name or address meets those of the machine; of mounts, so that /etc/hosts can be another
file; and of processes, whose first one takes all others with it when it ends. So nothing is left
behind, however this process ends, by kill -9 too: the kernel clears up.

    isolate()
    net = Network(["learner", "replay", "actors"], switch_program)
    net.shape(delay_ms=20, loss_percent=1, rate_mbit=100)
    net.run("actors", ["ping", "-c1", "learner"])

Needs root, /dev/net/tun, iproute2 (ip) and util-linux (unshare, nsenter, mount).
"""

import os
import shutil
import subprocess
import sys
import tempfile

SUBNET = "10.77.0"
ISOLATED = "AQ_HOSTS_ISOLATED"


def obstacle():
    """Why this machine cannot make hosts, or nothing."""
    if os.geteuid() != 0:
        return "network namespaces take root"
    missing = [name for name in ("ip", "unshare", "nsenter", "mount") if not shutil.which(name)]
    if not os.path.exists("/dev/net/tun"):
        missing.append("/dev/net/tun")
    return f"there is no {', '.join(missing)}" if missing else None


def isolate():
    """Starts this program anew in name spaces of its own; the process id stays the same."""
    if os.environ.get(ISOLATED):
        return
    os.environ[ISOLATED] = str(os.getpid())
    os.execvp("unshare", ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child",
                          "--mount-proc", sys.executable, *sys.argv])


def call(*words):
    """Runs a command; what it says is shown when it fails."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(words)}: {done.stdout.strip()}")
    return done.stdout


class Host:
    """A network namespace with one interface, eth0, on the switch."""

    def __init__(self, name, number):
        self.name, self.number = name, number
        self.space = f"aqh-{os.environ[ISOLATED]}-{name}"
        self.hardware = f"02:41:51:00:00:{number:02x}"
        self.address = f"{SUBNET}.{10 + number}"


class Network:
    """Hosts by their names, which /etc/hosts has for all of them."""

    def __init__(self, names, switch_program, congestion="cubic", seed=1):
        self.hosts = {name: Host(name, i + 1) for i, name in enumerate(names)}
        self.names = {host.name: host.address for host in self.hosts.values()}
        self.next_address = 100
        self.congestion = congestion
        call("mount", "--make-rprivate", "/")
        os.makedirs("/run/netns", exist_ok=True)
        call("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
        call("ip", "link", "set", "lo", "up")
        self.switch = subprocess.Popen([switch_program, str(seed), str(len(names))], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._switch_says_ok("starting")
        for host in self.hosts.values():
            self._plug_in(host)
        # A line that is cut is silent. Else a host would soon be told that nobody answers for the
        # address, and the system would end its connections for us.
        for host in self.hosts.values():
            self._introduce(host)
        self._open_hosts_file()

    def _switch_says_ok(self, command):
        answer = self.switch.stdout.readline()
        if answer != "ok\n":
            raise RuntimeError(f"the switch: {command}: {answer.strip()}")

    def _tell_switch(self, command):
        self.switch.stdin.write(command + "\n")
        self.switch.stdin.flush()
        self._switch_says_ok(command)

    def _plug_in(self, host):
        port = f"port-{host.number}"
        call("ip", "netns", "add", host.space)
        call("ip", "link", "set", port, "netns", host.space)
        call("ip", "-n", host.space, "link", "set", port, "name", "eth0", "address", host.hardware)
        call("ip", "-n", host.space, "link", "set", "eth0", "up")
        call("ip", "-n", host.space, "link", "set", "lo", "up")
        self._address(host)

    def _address(self, host):
        call("ip", "-n", host.space, "address", "add", host.address + "/24", "dev", "eth0")
        # A route says how a connection goes about congestion, where the system's own setting is
        # not to be changed.
        call("ip", "-n", host.space, "route", "replace", f"{SUBNET}.0/24", "dev", "eth0",
             "proto", "kernel", "scope", "link", "src", host.address, "congctl", self.congestion)

    def _introduce(self, host):
        for other in self.hosts.values():
            if other is not host:
                call("ip", "-n", other.space, "neighbour", "replace", host.address, "lladdr",
                     host.hardware, "dev", "eth0", "nud", "permanent")

    def _open_hosts_file(self):
        with tempfile.NamedTemporaryFile("w", delete=False) as file:
            self.hosts_file = file.name
        self._write_names()
        os.chmod(self.hosts_file, 0o644)
        call("mount", "--bind", self.hosts_file, "/etc/hosts")
        os.unlink(self.hosts_file)  # the mount keeps it
        self.hosts_file = "/etc/hosts"

    def _write_names(self):
        lines = [f"{address} {name}\n" for name, address in self.names.items()]
        with open(self.hosts_file, "w", encoding="ascii") as file:
            file.writelines(["127.0.0.1 localhost\n"] + lines)

    # ---- processes ------------------------------------------------------------------------------

    def inside(self, name, words):
        """The words of a command that runs the given one on that host, in its place."""
        return ["nsenter", f"--net=/run/netns/{self.hosts[name].space}", *words]

    def run(self, name, words):
        return call(*self.inside(name, words))

    # ---- lines ----------------------------------------------------------------------------------

    def shape(self, delay_ms, loss_percent, rate_mbit):
        """What every host sends is late, lost and slow: so a round trip takes twice the delay."""
        self._tell_switch(f"shape {round(1000 * delay_ms)} {round(10000 * loss_percent)} "
                          f"{round(1000000 * rate_mbit)}")

    def unshape(self):
        self._tell_switch("shape 0 0 0")

    def cut(self, name):
        """Nothing passes from or to that host, and nobody is told."""
        self._tell_switch(f"cut {self.hosts[name].number}")

    def heal(self, name):
        self._tell_switch(f"heal {self.hosts[name].number}")

    # ---- addresses ------------------------------------------------------------------------------

    def readdress(self, name):
        """That host gets an address that nobody had before, in place of its own. Its name, should
        it be asked for, stands for the new one."""
        host = self.hosts[name]
        before, host.address = host.address, f"{SUBNET}.{self.next_address}"
        self.next_address += 1
        call("ip", "-n", host.space, "address", "delete", before + "/24", "dev", "eth0")
        self._address(host)
        for other in self.hosts.values():  # a host keeps whom it knew
            if other is not host:
                call("ip", "-n", host.space, "neighbour", "replace", other.address, "lladdr",
                     other.hardware, "dev", "eth0", "nud", "permanent")
        self._introduce(host)
        self.call_it(name, name)

    def call_it(self, name, host):
        """That name stands for the host's address from now on."""
        self.names[name] = self.hosts[host].address
        self._write_names()

    def sent_bytes(self, name):
        """What that host has sent, on its wire."""
        space = self.hosts[name].space
        path = "/sys/class/net/eth0/statistics/tx_bytes"
        return int(call("ip", "netns", "exec", space, "cat", path))
