#!/usr/bin/env python3
"""The files of deploy/ say the same as each other and as the programs that they start.

    test_deploy_files.py ROOT LEARNER REPLAY ACTOR ACTORQ UNITS

UNITS is the folder of the units for systemd as they are installed.
"""

import fcntl
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import yaml
except ImportError:
    print("python3-yaml is not installed")
    sys.exit(77)

ROOT, *PROGRAMS, ACTORQ, UNITS = sys.argv[1:7]
DEPLOY = os.path.join(ROOT, "deploy")
ROLES = ("learner", "replay", "actor")
PROGRAM_OF = dict(zip((f"actorq-{role}" for role in ROLES), PROGRAMS))
FILES_OF_A_ROLE = {"ca.pem", "cert.pem", "key.pem", "token"}
START_S = 120  # START_TIMEOUT_MS of envs/python/python_worker.c: the daemon is silent meanwhile
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


def read(*path):
    with open(os.path.join(DEPLOY, *path), encoding="utf-8") as file:
        return file.read()


def units():
    """The text of each unit, by its name."""
    return {name: read(UNITS, name) for name in sorted(os.listdir(UNITS))}


def tools_of_the_image(folder):
    """The path of FOLDER, to which it links what the image has of this system's tools."""
    of_all_roles = read("Dockerfile").split(" /ranks ")[0]
    for tool in re.findall(r" (/(?:usr/)?bin/(?!actorq)[a-z]+)", of_all_roles):
        os.symlink(tool, os.path.join(folder, os.path.basename(tool)))
    return folder


def put_program(folder, name, script):
    """A script in the place of a program."""
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)


def load(*path):
    """With every variable as it is when nobody set it."""
    return yaml.safe_load(VARIABLE.sub(lambda match: match.group(2) or "", read(*path)))


def load_all(*path):
    return [one for one in yaml.safe_load_all(read(*path)) if one]


def applied(name):
    """The objects that a folder of deploy/ is applied and deleted with."""
    return [one for file in load(name, "kustomization.yaml")["resources"]
            for one in load_all(name, file)]


def built(name):
    """What kustomize makes of a folder of deploy/."""
    kubectl = shutil.which("kubectl")
    if not kubectl:
        raise unittest.SkipTest("kubectl is not installed")
    text = subprocess.run([kubectl, "kustomize", os.path.join(DEPLOY, name)], check=True,
                          capture_output=True, text=True).stdout
    return [one for one in yaml.safe_load_all(text) if one]


def check_pod(test, pod):
    """It is confined, and each of its containers is limited."""
    test.assertTrue(pod["securityContext"]["runAsNonRoot"])
    test.assertEqual(pod["securityContext"]["seccompProfile"], {"type": "RuntimeDefault"})
    test.assertFalse(pod["automountServiceAccountToken"])
    for container in pod.get("initContainers", []) + pod["containers"]:
        test.assertTrue(container["securityContext"]["readOnlyRootFilesystem"])
        test.assertFalse(container["securityContext"]["allowPrivilegeEscalation"])
        test.assertEqual(container["securityContext"]["capabilities"], {"drop": ["ALL"]})
        test.assertEqual(set(container["resources"]["limits"]), {"cpu", "memory"})


def known_options(program):
    text = subprocess.run([PROGRAM_OF[program], "--help"], check=True, capture_output=True,
                          text=True).stdout
    return set(re.findall(r"--[\w-]+", text))


def programs_in(words):
    """Each program among the words with the options after it."""
    found = []
    for word in words:
        name = re.sub("-(in-pool|as-asked)$", "", os.path.basename(word))
        if name in PROGRAM_OF:
            found.append((name, []))
        elif found and word.startswith("--"):
            found[-1][1].append(word.split("=")[0])
    return found


# A task for the presets that are not for one.
TASK_OF = {"dmc-d4pg": "gym:Pendulum-v1", "dmc-sac": "gym:Pendulum-v1",
           "dmc-ppo": "gym:Pendulum-v1", "paper-d4pg": "gym:Pendulum-v1",
           "suite-best": "gym:Pendulum-v1",
           "taxi-dqn": "gym:Taxi-v3?one_hot=yes", "games-dqn": "game:breakout",
           "taxi-c51": "gym:Taxi-v3?one_hot=yes",
           "games-rainbow": "game:breakout", "games-ppo": "game:breakout",
           "miner-dqn": "game:miner",
           **{f"lander-{name}": "gym:LunarLander-v3"
              for name in ("ppo", "a2c", "reinforce", "impala")},
           **{f"mountaincar-{name}": "gym:MountainCarContinuous-v0"
              for name in ("ppo", "a2c", "reinforce", "impala")},
           "frozenlake-dqn": "gym:FrozenLake-v1?one_hot=yes",
           "frozenlake-q": "gym:FrozenLake-v1", "frozenlake8x8-q": "gym:FrozenLake8x8-v1",
           "blackjack-q": "gym:Blackjack-v1", "tabular-q": "gym:Taxi-v3",
           "tabular-sarsa": "gym:CliffWalking-v1", "taxi-sarsa": "gym:Taxi-v3",
           "tabular-expected_sarsa": "gym:Taxi-v3",
           **{f"tabular-{name}": "gym:Taxi-v3"
              for name in ("ppo", "a2c", "reinforce", "impala", "trpo", "pqn", "qr_dqn",
                           "sac")},
           "cliffwalking-dqn": "gym:CliffWalking-v1?one_hot=yes",
           "cartpole-dqn": "gym:CartPole-v1", "cartpole-c51": "gym:CartPole-v1",
           **{f"offline-{name}": "gym:Pendulum-v1" for name in ("td3_bc", "iql", "cql")},
           **{f"any-{name}": "gym:CartPole-v1"
              for name in ("ppo", "a2c", "reinforce", "impala", "trpo", "pqn", "r2d2",
                           "rainbow", "sac")}}


class Settings(unittest.TestCase):
    def test_every_file_of_settings_makes_a_run(self):
        presets = os.path.join(ROOT, "configs")
        files = [os.path.join(DEPLOY, "run.yaml"),
                 os.path.join(DEPLOY, "kubernetes", "cluster-run.yaml"),
                 *glob.glob(os.path.join(presets, "*.yaml"))]
        self.assertGreater(len(files), 2)
        for file in files:
            for actors in ([], ["--actors", "64"]):
                task = TASK_OF.get(os.path.basename(file).removesuffix(".yaml"))
                done = subprocess.run([ACTORQ, "train", *([task] if task else []), "--config",
                                       file, *actors, "--print-config"], check=False,
                                      capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, f"{file} {actors}: {done.stderr}")


class Commands(unittest.TestCase):
    def check(self, words):
        found = programs_in(words)
        self.assertTrue(found, words)
        for program, options in found:
            self.assertLessEqual(set(options), known_options(program), program)
        return found

    def test_compose_starts_programs_with_options_that_they_know(self):
        services = load("compose.yaml")["services"]
        for name in ("learner", "replay", "actor", "evaluator"):
            self.check(shlex.split(services[name]["command"]))

    def test_swarm_starts_what_compose_starts(self):
        swarm, compose = load("swarm.yaml")["services"], load("compose.yaml")["services"]
        for name in ("learner", "replay", "actor", "evaluator"):
            self.assertEqual(shlex.split(swarm[name]["command"]),
                             shlex.split(compose[name]["command"]), name)
            self.assertEqual(swarm[name]["stop_grace_period"], compose[name]["stop_grace_period"])

    def test_actors_have_one_thread_of_openblas_everywhere(self):
        for name in ("compose.yaml", "swarm.yaml"):
            variables = load(name)["services"]["actor"]["environment"]
            self.assertEqual(variables["OPENBLAS_NUM_THREADS"], "1", name)
        for text in (read("slurm", "actors.sbatch"), units()["actorq-actor@.service"]):
            self.assertIn("OPENBLAS_NUM_THREADS=1", text)
        self.assertIn('{name: OPENBLAS_NUM_THREADS, value: "1"}', read("kubernetes", "actor.yaml"))

    def test_units_start_programs_with_options_that_they_know(self):
        for text in units().values():
            for line in re.findall(r"^ExecStart=(.*)$", text.replace("\\\n", " "), re.M):
                self.check(shlex.split(line))

    def test_jobs_start_programs_with_options_that_they_know(self):
        for name in ("head.sbatch", "actors.sbatch"):
            lines = [line for line in read("slurm", name).replace("\\\n", " ").splitlines()
                     if re.match(r"\s*(ACTORQ_CERTS=\S+ .*)?actorq-\w+ ", line)]
            self.assertTrue(lines, name)
            for line in lines:
                self.check(line.replace('"', "").split())

    def test_the_learner_is_told_what_was_asked_and_nothing_else(self):
        for asked, expected in (
                ({}, "--config c.yaml"),
                ({"ACTORQ_TASK": "", "ACTORQ_FORMAT": ""}, "--config c.yaml"),
                ({"ACTORQ_TASK": "gym:Taxi-v4?a=1&b=2"}, "--set task=gym:Taxi-v4?a=1&b=2 --config"),
                ({"ACTORQ_TASK": "t", "ACTORQ_FORMAT": "fp32"},
                 "--set task=t --set quantizer.format=fp32 --config c.yaml")):
            with tempfile.TemporaryDirectory() as folder:
                path = tools_of_the_image(folder)
                put_program(folder, "actorq-learner", "echo $*")
                said = subprocess.run(
                    [os.path.join(DEPLOY, "image", "learner-as-asked.sh"), "--config", "c.yaml"],
                    check=True, capture_output=True, text=True,
                    env={**asked, "PATH": path}).stdout
            self.assertTrue(said.startswith(expected), said)

    def test_a_shard_takes_the_first_folder_that_nobody_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            path = tools_of_the_image(folder)
            script = os.path.join(DEPLOY, "image", "replay-in-pool.sh")
            put_program(folder, "actorq-replay", 'echo "$@"\n"$0.next"')
            put_program(folder, "actorq-replay.next",
                        f'[ -z "$ONCE" ] || exit 0\nONCE=1 {script} {folder} --b')
            said = subprocess.run([script, folder, "--a"], check=True, capture_output=True,
                                  text=True, env={"PATH": path}).stdout
            self.assertEqual(said, f"--data {folder}/replay-0 --a\n--data {folder}/replay-1 --b\n")

    def test_certificates_of_an_interrupted_start_are_made_again(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("authority", "evaluator", "operator", *ROLES):
                os.mkdir(os.path.join(folder, name))
            put_program(folder, "actorq", f'{ACTORQ} "$@"\nif ! [ -e "$0.cut" ]; then\n'
                                          ': >"$0.cut"\nrm "$2/operator/token"\nexit 1\nfi')
            path = tools_of_the_image(folder)
            starts = [subprocess.run([os.path.join(DEPLOY, "image", "certs-once.sh"), folder],
                                     check=False, capture_output=True, env={"PATH": path})
                      for _ in range(2)]
            self.assertEqual([start.returncode for start in starts], [1, 0], starts)
            self.assertTrue(os.path.exists(os.path.join(folder, "operator", "token")))

    def test_pages_are_published_to_this_host_alone(self):
        for file in ("compose.yaml", "swarm.yaml"):
            for name, service in load(file)["services"].items():
                for port in service.get("ports", []):
                    self.assertTrue(str(port).startswith("127.0.0.1:"), f"{file}: {name}: {port}")
        grafana = load("compose.yaml")["services"]["grafana"]["environment"]
        self.assertEqual(grafana["GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION"], "true")

    def test_secrets_are_ignored_by_git_and_by_docker(self):
        for file in (".gitignore", ".dockerignore"):
            with open(os.path.join(ROOT, file), encoding="utf-8") as text:
                lines = {line.strip().strip("/") for line in text}
            self.assertLessEqual({"secrets", "deploy/secrets", "deploy/.env"}, lines, file)

    def test_no_container_is_limited_to_more_than_one_processor(self):
        for service in load("compose.yaml")["services"].values():
            self.assertLessEqual(float(service.get("cpus", 0)), 1)


class Image(unittest.TestCase):
    def fill(self, folder, *programs):
        return subprocess.run([os.path.join(DEPLOY, "image", "closed.sh"), folder, *programs],
                              check=False, capture_output=True, text=True)

    def test_it_has_programs_and_what_they_load(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.fill(folder, "/bin/ls", "/bin/cat")
            self.assertEqual(done.returncode, 0, done.stderr)
            said = subprocess.run([f"{folder}/bin/ls", "--version"], check=True,
                                  capture_output=True, text=True).stdout
            self.assertIn("coreutils", said)
            self.assertTrue(glob.glob(f"{folder}/lib/*/libc.so.6"))
            self.assertIn("coreutils", os.listdir(f"{folder}/var/lib/dpkg/status.d"))

    def test_it_is_whole_or_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for wrong in ("/usr/bin/nosuch", os.path.abspath(__file__)):
                done = self.fill(folder, "/bin/ls", wrong, "/bin/cat")
                self.assertNotEqual(done.returncode, 0, wrong)

    def test_a_library_that_is_not_there_is_said(self):
        with tempfile.TemporaryDirectory() as folder:
            put_program(folder, "ldd", "echo '  libnosuch.so => not found'; exec /usr/bin/ldd $1")
            done = subprocess.run([os.path.join(DEPLOY, "image", "closed.sh"), folder, "/bin/ls"],
                                  check=False, capture_output=True, text=True,
                                  env={"PATH": f"{folder}:/usr/bin:/bin"})
            self.assertNotEqual(done.returncode, 0)
            self.assertIn("libnosuch.so", done.stderr)

    def test_a_mirror_of_security_is_what_was_said(self):
        lines = read("image", "apt.sh").splitlines()
        start = next(i for i, line in enumerate(lines) if "sed -i" in line)
        script = " ".join(line.rstrip("\\") for line in lines[start:start + 3])
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "sources.list")
            with open(path, "w", encoding="ascii") as file:
                file.write("deb http://deb.debian.org/debian-security s\n"
                           "deb http://deb.debian.org/debian b\n")
            subprocess.run(["sh", "-c", script.replace("/etc/apt/", folder + "/")], check=True,
                           env={"APT_MIRROR": "http://m/debian", "PATH": "/usr/bin:/bin",
                                "APT_SECURITY_MIRROR": "http://deb.debian.org/debian-security"})
            self.assertEqual(open(path, encoding="ascii").read(),
                             "deb http://deb.debian.org/debian-security s\n"
                             "deb http://m/debian b\n")


class Checks(unittest.TestCase):
    """What the checks of deployments share."""

    def test_what_is_waited_for_in_vain_is_shown(self):
        script = ("source tools/prepare.sh; source tests/deploy/base.sh\n"
                  "show_state() { echo the state; false; }\n"
                  "wait_for 1 here true; wait_for 1 there false; echo no further")
        begun = time.monotonic()
        done = subprocess.run(["bash", "-e", "-c", script], check=False, cwd=ROOT, text=True,
                              capture_output=True, env={**os.environ, "CHECK_PATIENCE": "3"})
        self.assertGreaterEqual(time.monotonic() - begun, 2)  # whole seconds are counted
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "")
        for words in ("here\n", "the state\n", "not in time: there\n"):
            self.assertIn(words, done.stderr)

    def test_an_empty_root_and_its_base_are_made_by_one_at_a_time(self):
        with tempfile.TemporaryDirectory() as folder:
            put_program(folder, "id", "echo 0")
            put_program(folder, "dpkg-query", "echo installed debootstrap")
            put_program(folder, "debootstrap", "exit 1")
            for made, locked, words in (("base", "lock", "an engine runs"),
                                        ("empty-root", "empty-root.lock", "another one runs")):
                os.mkdir(f"{folder}/{made}")
                with open(f"{folder}/{locked}", "w", encoding="ascii") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    done = subprocess.run([os.path.join(ROOT, "tests/deploy/empty_root.sh")],
                                          check=False, capture_output=True, text=True,
                                          env={"ENGINE_DIR": folder,
                                               "PATH": f"{folder}:/usr/bin:/bin"})
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr)
                self.assertTrue(os.path.exists(f"{folder}/{made}"))


class Environment(unittest.TestCase):
    def test_the_example_has_every_variable_of_compose_with_its_value(self):
        files = read("compose.yaml") + read("ranks.yaml")
        asked = {name: value or "" for name, value in VARIABLE.findall(files)
                 if not name.endswith("_IMAGE")}
        shown = dict(line.split("=", 1) for line in read("env.example").splitlines()
                     if line and not line.startswith("#"))
        self.assertEqual(shown, asked)

    def test_swarm_asks_for_nothing_that_compose_does_not_have(self):
        def names(text):
            return {name for name, _ in VARIABLE.findall(text)}
        self.assertLessEqual(names(read("swarm.yaml")), names(read("compose.yaml")))


class Ranks(unittest.TestCase):
    def test_compose_confines_them_as_all_others(self):
        services = load("ranks.yaml")["services"]
        role = load("compose.yaml")["x-role"]
        rank = services["learner-rank"]
        for key in ("read_only", "tmpfs", "cap_drop", "security_opt", "networks", "logging"):
            self.assertEqual(rank[key], role[key], key)
        self.assertEqual(rank["image"], services["learner"]["image"])
        self.assertEqual(rank["volumes"], ["certs-learner:/certs/learner:ro"])
        self.assertEqual(services["learner"]["environment"]["ACTORQ_RANK_NAME"], "learner-rank")

    def test_kustomize_builds_them_over_the_run(self):
        sets = {one["metadata"]["name"]: one["spec"] for one in built("kubernetes-ranks")
                if one["kind"] == "StatefulSet"}
        first = sets["learner"]["template"]["spec"]["containers"][0]
        said = {one["name"]: one.get("value") for one in first["env"]}
        self.assertEqual(said["ACTORQ_RANK_NAME"], sets["learner-rank"]["serviceName"])
        self.assertEqual(said["ACTORQ_RANKS"], str(sets["learner-rank"]["replicas"]))
        self.assertIn("--resume", first["args"])
        rank = sets["learner-rank"]["template"]["spec"]
        self.assertEqual(rank["containers"][0]["image"], first["image"])
        self.assertEqual(rank["containers"][0]["securityContext"], first["securityContext"])
        self.assertEqual(rank["volumes"][0]["secret"]["secretName"], "actorq-learner")

    def test_the_learner_starts_one_at_each_address_of_their_name(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("actorq-ranks", 'echo "$@"'), ("sleep", ":"),
                               ("getent", 'for kind in STREAM DGRAM; do\n'
                                'echo "10.0.0.1 $kind r"; echo "10.0.0.2 $kind"; done')):
                put_program(folder, name, text)
            for asked in ("2", "3"):  # one that does not come is not waited for for ever
                said = subprocess.run(
                    [os.path.join(DEPLOY, "image", "learner-as-asked.sh"), "--resume"], check=True,
                    capture_output=True, text=True,
                    env={"ACTORQ_RANK_NAME": "learner-rank", "ACTORQ_RANKS": asked,
                         "PATH": f"{folder}:/usr/bin:/bin"}).stdout
                self.assertEqual(said, "10.0.0.1,10.0.0.2 actorq-learner --resume\n")

    def test_the_first_rank_of_a_life_before_does_not_count(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("mpirun", "exec /bin/sleep 0.3"), ("sleep", ":"),
                               ("ssh-keygen", "echo key")):
                put_program(folder, name, text)
            done = subprocess.run(  # the process id stays that of the shell
                ["sh", "-c", 'own=$TMPDIR/actorq-ranks-$$; mkdir "$own"; '
                 'echo 999999999 >"$own/first"; exec "$0" host actorq-learner',
                 os.path.join(DEPLOY, "image", "ranks.sh")], check=False,
                env={"ACTORQ_CERTS": folder, "TMPDIR": folder, "PATH": f"{folder}:/usr/bin:/bin"})
            self.assertEqual(done.returncode, 0)

    def test_a_signal_after_the_first_rank_has_ended_changes_nothing(self):
        with tempfile.TemporaryDirectory() as folder:
            put_program(folder, "ssh-keygen", "echo key")
            put_program(folder, "mpirun", 'echo 999999999 >"$TMPDIR/actorq-ranks-$PPID/first"\n'
                                          'kill -TERM $PPID\nexec /bin/sleep 1')
            done = subprocess.run([os.path.join(DEPLOY, "image", "ranks.sh"), "host", "learner"],
                                  check=False, timeout=60,
                                  env={"ACTORQ_CERTS": folder, "TMPDIR": folder,
                                       "PATH": f"{folder}:/usr/bin:/bin"})
            self.assertEqual(done.returncode, 0)
            self.assertFalse(glob.glob(f"{folder}/actorq-ranks-*"))

    def test_ranks_elsewhere_log_compute_and_find_python_as_the_first_one(self):
        here = {"ACTORQ_LOG": "debug", "ACTORQ_LOG_FORMAT": "json", "ACTORQ_CPU": "avx2",
                "ACTORQ_BLAS_CORETYPE": "keep", "OPENBLAS_CORETYPE": "Haswell",
                "OPENBLAS_L2_SIZE": "1024", "OPENBLAS_NUM_THREADS": "2",
                "PYTHONPATH": "/tasks", "ACTORQ_PYTHON": "python3", "ACTORQ_PYTHONPATH": "/actorq"}
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("mpirun", 'echo "$@"'), ("sleep", ":"),
                               ("ssh-keygen", "echo key")):
                put_program(folder, name, text)
            said = subprocess.run(
                [os.path.join(DEPLOY, "image", "ranks.sh"), "host", "actorq-learner"], check=True,
                capture_output=True, text=True, timeout=60,
                env={**here, "ACTORQ_CERTS": folder, "TMPDIR": folder,
                     "PATH": f"{folder}:/usr/bin:/bin"}).stdout
            for name in here:
                self.assertIn(f" -x {name} ", said)
            self.assertNotIn("ACTORQ_TOKEN_FILE", said)

    @staticmethod
    def ask_for_ranks(**programs):
        """What a learner of two ranks says and does, where these are the programs that it finds."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in programs.items():
                put_program(folder, name.replace("_", "-"), text)
            return subprocess.run([os.path.join(DEPLOY, "image", "learner-as-asked.sh")],
                                  check=False, timeout=60, capture_output=True, text=True,
                                  env={"ACTORQ_RANK_NAME": "rank", "ACTORQ_RANKS": "2",
                                       "PATH": f"{folder}:/usr/bin:/bin"})

    def test_a_learner_that_waits_for_ranks_can_be_told_to_end(self):
        done = self.ask_for_ranks(getent=":", sleep="kill -TERM $PPID", actorq_ranks="exit 7")
        self.assertEqual(done.returncode, 0)

    def test_a_learner_that_goes_on_with_fewer_ranks_says_so(self):
        done = self.ask_for_ranks(getent="echo '10.0.0.1 STREAM rank'", sleep=":",
                                  actorq_ranks='echo "$1"')
        self.assertEqual(done.stdout, "10.0.0.1\n")
        self.assertIn("rank has 1 IPv4 addresses of 2", done.stderr)

    def test_a_folder_of_somebody_else_is_not_taken(self):
        for name in ("ranks", "rank-host"):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                for program, text in (("rm", ":"), ("mpirun", ":"), ("ssh-keygen", "echo key")):
                    put_program(folder, program, text)  # nobody but its owner can remove it
                done = subprocess.run(
                    ["sh", "-c", f'mkdir "$TMPDIR/actorq-{name}-$$"; '
                     'exec "$0" host actorq-learner',
                     os.path.join(DEPLOY, "image", f"{name}.sh")], check=False,
                    capture_output=True, text=True, timeout=60,
                    env={"ACTORQ_CERTS": folder, "TMPDIR": folder,
                         "PATH": f"{folder}:/usr/bin:/bin"})
                self.assertIn("File exists", done.stderr)
                self.assertNotEqual(done.returncode, 0)


class Sweeps(unittest.TestCase):
    SPEC = ("task: gym:CartPole-v1\ntrials: 1\nrungs: [500]\n"
            "space: {learner.n_step: [1, 3]}\nsettings: {evaluator.episodes: 1}\n")

    def pod(self):
        return load("kubernetes-sweep", "sweep-job.yaml")["spec"]["template"]["spec"]

    def works(self, words, folder):
        """The command of a container, with its mounts in the folder."""
        self.assertEqual(words[:2], ["actorq", "sweep"])
        words = [word.replace("/runs/", f"{folder}/").replace("/etc/actorq", folder)
                 for word in words]
        subprocess.run([ACTORQ, *words[1:]], check=True, capture_output=True, timeout=240)

    def test_each_engine_founds_a_sweep_often_and_works_at_it(self):
        services = load("sweep.yaml")["services"]
        pod = self.pod()
        for found, work in (
                (shlex.split(services["found"]["command"]),
                 shlex.split(services["worker"]["command"])),
                (pod["initContainers"][0]["command"], pod["containers"][0]["command"])):
            with tempfile.TemporaryDirectory() as folder:
                with open(f"{folder}/spec.yaml", "w", encoding="ascii") as file:
                    file.write(self.SPEC)
                for words in (found, found, work, found, work):
                    self.works(words, folder)
                self.assertTrue(os.path.exists(f"{folder}/first/journal.jsonl"))

    def test_a_job_founds_a_sweep_often_and_works_at_it(self):
        with tempfile.TemporaryDirectory() as folder:
            with open(f"{folder}/spec.yaml", "w", encoding="ascii") as file:
                file.write(self.SPEC)
            os.symlink(os.path.abspath(ACTORQ), f"{folder}/actorq")
            for words in ([f"{folder}/spec.yaml"], [f"{folder}/spec.yaml"], []):
                subprocess.run(["bash", os.path.join(DEPLOY, "slurm", "sweep.sbatch"),
                                f"{folder}/all", *words], check=True, capture_output=True,
                               timeout=240, env={"PATH": f"{folder}:/usr/bin:/bin"})
            with open(f"{folder}/all/journal.jsonl", encoding="ascii") as file:
                self.assertIn('"event": "end"', file.read())

    def test_the_examples_are_the_same_and_can_be_tried(self):
        texts = [read("sweep-spec.yaml"), read("kubernetes-sweep", "cluster-sweep.yaml")]
        self.assertEqual(*(text.split("\n", 1)[1] for text in texts))
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([ACTORQ, "sweep", os.path.join(DEPLOY, "sweep-spec.yaml"), "--folder",
                            f"{folder}/all", "--found"], check=True, capture_output=True)

    def test_workers_are_confined_as_all_others(self):
        worker, role = load("sweep.yaml")["services"]["worker"], load("compose.yaml")["x-role"]
        for key in ("read_only", "cap_drop", "security_opt"):
            self.assertEqual(worker[key], role[key], key)
        check_pod(self, self.pod())

    def test_pods_share_the_claim_that_was_made_for_them(self):
        claim = load("kubernetes-sweep", "sweep-claim.yaml")["metadata"]
        self.assertEqual(claim["namespace"],
                         load("kubernetes-sweep", "kustomization.yaml")["namespace"])
        claims = [volume["persistentVolumeClaim"]["claimName"] for volume in self.pod()["volumes"]
                  if "persistentVolumeClaim" in volume]
        self.assertEqual(claims, [claim["name"]])


class Swarm(unittest.TestCase):
    def test_each_role_has_its_secrets_and_no_other(self):
        stack = load("swarm.yaml")
        for role in ("learner", "replay", "actor", "evaluator"):
            service = stack["services"][role]
            targets = set()
            for secret in service["secrets"]:
                self.assertTrue(secret["source"].startswith(role + "-"), secret)
                self.assertEqual(secret["uid"], "10001")
                path = stack["secrets"][secret["source"]]["file"]
                self.assertEqual(path, f"./secrets/{role}/{os.path.basename(secret['target'])}")
                targets.add(os.path.basename(secret["target"]))
            self.assertEqual(targets, FILES_OF_A_ROLE)
            self.assertTrue(service["read_only"])
            self.assertIn("memory", service["deploy"]["resources"]["limits"])


    def test_an_environment_in_python_has_its_time_to_start(self):
        for role in ("actor", "evaluator"):
            check = load("swarm.yaml")["services"][role]["healthcheck"]
            asked = int(check["interval"].removesuffix("s")) * check["retries"]
            self.assertGreaterEqual(asked, START_S + 30)


class Kubernetes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.objects = applied("kubernetes")

    def of(self, *kinds):
        return [one for one in self.objects if one["kind"] in kinds]

    def pods(self):
        return [(one, one["spec"]["template"]) for one in self.of("StatefulSet", "Deployment")]

    def test_kustomize_builds_it(self):
        found = built("kubernetes")
        self.assertEqual(len(found), len(self.objects) + 1)  # and the settings
        for one in found:
            self.assertEqual(one["metadata"]["namespace"], "actorq", one)

    def test_what_deletes_the_run_leaves_its_claims_and_secrets(self):
        for name in ("kubernetes", "kubernetes-sweep"):
            kinds = {one["kind"] for one in applied(name)}
            self.assertFalse(kinds & {"Namespace", "Secret", "PersistentVolumeClaim"}, name)
        self.assertEqual(load("kubernetes", "namespace.yaml")["metadata"]["name"],
                         load("kubernetes", "kustomization.yaml")["namespace"])

    def test_programs_get_options_that_they_know(self):
        for _, pod in self.pods():
            container = pod["spec"]["containers"][0]
            program = container["command"][0]
            options = {argument.split("=")[0] for argument in container["args"]}
            self.assertLessEqual(options, known_options(program))

    def test_selectors_find_their_pods(self):
        for one, pod in self.pods():
            self.assertEqual(one["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"])
        labels = [pod["metadata"]["labels"] for _, pod in self.pods()]
        for one in self.of("Service"):
            self.assertIn(one["spec"]["selector"], labels)
        for one in self.of("PodDisruptionBudget"):
            self.assertIn(one["spec"]["selector"]["matchLabels"], labels)
        components = {one["app.kubernetes.io/component"] for one in labels}
        for one in self.of("NetworkPolicy"):
            for value in re.findall(r"component': '(\w+)'", repr(one)):
                self.assertIn(value, components)
            for values in re.findall(r"'values': \[([^]]*)\]", repr(one)):
                self.assertLessEqual(set(re.findall(r"\w+", values)), components)

    def test_ports_are_what_the_programs_listen_at(self):
        for one, pod in self.pods():
            container = pod["spec"]["containers"][0]
            ports = {port["name"]: port["containerPort"] for port in container["ports"]}
            self.assertEqual(ports["http"], 8080)
            for argument in container["args"]:
                if argument.startswith("--listen="):
                    base = int(argument.rsplit(":", 1)[1])
                    self.assertEqual({base, base + 1, 8080}, set(ports.values()), one["metadata"])
                if argument.startswith("--learner="):
                    self.assertEqual(argument, "--learner=tcp://learner:5550")

    def test_a_network_policy_lets_in_what_the_roles_use_between_them(self):
        def allowed(to):
            policy = next(one for one in self.of("NetworkPolicy") if one["metadata"]["name"] == to)
            rule = policy["spec"]["ingress"][0]
            roles = rule["from"][0]["podSelector"]["matchExpressions"][0]["values"]
            return set(roles), {port["port"] for port in rule["ports"]}
        self.assertEqual(allowed("learner"),
                         ({"replay", "actor", "evaluator"}, {"calls", "policy"}))
        self.assertEqual(allowed("replay"), ({"learner", "actor"}, {"calls", "experience"}))

    def test_pods_are_confined_limited_and_probed(self):
        for one, pod in self.pods():
            check_pod(self, pod["spec"])
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                asked = pod["spec"]["containers"][0][probe]["httpGet"]["port"]
                self.assertEqual(asked, "http", one["metadata"])

    def test_a_shard_has_five_minutes_to_read_its_folder_whenever_it_does(self):
        self.check_patience("replay", 300)

    def check_patience(self, role, seconds):
        pod = next(pod for one, pod in self.pods() if one["metadata"]["name"] == role)
        for probe in ("startupProbe", "livenessProbe"):
            asked = pod["spec"]["containers"][0][probe]
            self.assertGreaterEqual(asked["periodSeconds"] * asked["failureThreshold"], seconds)

    def test_an_environment_in_python_has_its_time_to_start(self):
        for role in ("actor", "evaluator"):
            self.check_patience(role, START_S + 30)

    def test_volumes_that_are_mounted_are_there_and_of_the_role(self):
        for one, pod in self.pods():
            there = {volume["name"] for volume in pod["spec"]["volumes"]}
            there |= {claim["metadata"]["name"]
                      for claim in one["spec"].get("volumeClaimTemplates", [])}
            container = pod["spec"]["containers"][0]
            self.assertEqual({mount["name"] for mount in container["volumeMounts"]}, there)
            role = one["metadata"]["name"]
            secrets = [volume["secret"]["secretName"] for volume in pod["spec"]["volumes"]
                       if "secret" in volume]
            self.assertEqual(secrets, [f"actorq-{role}"])

    def test_the_autoscaler_scales_the_actors(self):
        scaler, = self.of("HorizontalPodAutoscaler")
        target = scaler["spec"]["scaleTargetRef"]
        actor = next(one for one in self.of("Deployment") if one["metadata"]["name"] == "actor")
        self.assertEqual((target["kind"], target["name"]), ("Deployment", "actor"))
        self.assertNotIn("replicas", actor["spec"])  # or each `apply` would undo the scaling
        container = actor["spec"]["template"]["spec"]["containers"][0]
        self.assertIn("cpu", container["resources"]["requests"])


class Systemd(unittest.TestCase):
    def test_each_service_is_confined_notifies_and_has_the_certificates_of_its_role(self):
        for name, text in units().items():
            if not name.endswith(".service"):
                continue
            for line in ("Type=notify", "DynamicUser=yes", "NoNewPrivileges=yes",
                         "ProtectSystem=strict", "Restart=on-failure", "WantedBy=actorq.target"):
                self.assertRegex(text, f"(?m)^{line}$", name)
            role = re.match(r"actorq-(\w+)", name).group(1)
            files = re.findall(rf"^LoadCredential=(\S+):/etc/actorq/certs/{role}/(\S+)$",
                               text.replace("%j", role), re.M)
            self.assertEqual({one for one, _ in files}, FILES_OF_A_ROLE)
            for one, source in files:
                self.assertEqual(one, source)

    def test_actors_and_the_evaluator_can_be_given_the_options_that_compose_gives_them(self):
        asked = re.findall(r"command: actorq-actor .*\$\{(\w+):-\}$", read("compose.yaml"), re.M)
        for role, name in zip(("actor@", "evaluator"), asked, strict=True):
            text = units()[f"actorq-{role}.service"]
            self.assertRegex(text, rf"(?m)^ExecStart=.* \${name}$")  # no braces: words, or none
            self.assertRegex(text, rf"(?m)^Environment=(.* )?{name}=$")

    def test_what_is_silent_is_ended_but_an_environment_in_python_has_its_time_to_start(self):
        for name, text in units().items():
            if name.endswith(".service"):
                asked, = re.findall(r"(?m)^WatchdogSec=(\d+)$", text)
                is_acting = "actorq-actor --" in text
                self.assertGreaterEqual(int(asked), START_S + 30 if is_acting else 60, name)

    def test_systemd_has_nothing_to_say_about_them(self):
        if not shutil.which("systemd-analyze"):
            self.skipTest("systemd is not installed")
        with tempfile.TemporaryDirectory() as root:
            for name, text in units().items():
                for program, path in PROGRAM_OF.items():
                    text = re.sub(rf"(?m)^ExecStart=\S*/{program} ",
                                  f"ExecStart={os.path.abspath(path)} ", text)
                with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                    file.write(re.sub(r"(?m)^Documentation=.*\n", "", text))
            names = [name.replace("@.", "@1.") for name in units()]
            done = subprocess.run(["systemd-analyze", "verify", *(os.path.join(root, name)
                                                                  for name in names)],
                                  capture_output=True, text=True, check=False,
                                  env={**os.environ, "SYSTEMD_UNIT_PATH": f"{root}:"})
        complaints = [line for line in done.stderr.splitlines() if "actorq" in line]
        self.assertEqual(complaints, [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
