"""What the daemons of a run serve over HTTP: metrics, health, readiness.

    test_metrics_pages.py LEARNER REPLAY ACTOR ACTORQ SOURCE_ROOT [unittest's arguments]
"""

import concurrent.futures
import http.client
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import exposition

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from daemons import PATIENCE_S, Daemon, wait_for

LEARNER, REPLAY, ACTOR, ACTORQ, SOURCE_ROOT = sys.argv[1:6] if len(sys.argv) > 5 else [""] * 5
ROLES = ("learner", "replay", "actor", "evaluator")
ROW = re.compile(r"\| `(actorq_\w+)` \| (\w+) \| ([^|]*) \| (.*) \|")

# Of these an untouched page may hold nothing: no result yet, or no priorities in this run.
QUIET = {"actorq_learner_gradients_damped", "actorq_learner_gradients_dropped",
         "actorq_learner_gradients_refused",
         "actorq_learner_ranks", "actorq_learner_exchange_bytes", "actorq_learner_exchange_ms",
         "actorq_learner_noise_scale", "actorq_learner_gradient_cosine",
         "actorq_learner_audited_rows", "actorq_learner_audit_different",
         "actorq_learner_levels_changed", "actorq_learner_precision_gap_return",
         "actorq_learner_precision_gap_return_ci95",
         "actorq_learner_return_mean", "actorq_learner_return_best", "actorq_actor_return_mean",
         "actorq_learner_return_standard_deviation", "actorq_evaluator_return_mean",
         "actorq_learner_sample_latency_seconds", "actorq_learner_loss", "actorq_learner_q_mean",
         "actorq_learner_gradient_norm", "actorq_learner_gradient_norm_clipped",
         "actorq_learner_q_least", "actorq_learner_q_greatest", "actorq_learner_td_error_spread",
         "actorq_learner_reward_size", "actorq_learner_rewarded_share",
         "actorq_learner_ended_share", "actorq_learner_value_floor",
         "actorq_learner_value_ceiling", "actorq_learner_exploration_entropy",
         "actorq_learner_staleness_mean_versions", "actorq_replay_table_times_sampled",
         "actorq_learner_quantization_cost_ratio",
         "actorq_learner_quantization_output_rms", "actorq_learner_quantization_output_max",
         "actorq_learner_run_energy_joules_total", "actorq_learner_run_cpu_seconds_total",
         "actorq_certificate_end_time_seconds"}


class Served(Daemon):
    """A daemon that serves."""

    def __init__(self, role, home, command):
        super().__init__(home, role, [*command, "--http", "127.0.0.1:0"])
        self.address = None

    def find(self):
        """Waits until it says where it serves."""
        self.address = self.heard(r"event=http_ready url=http://(\S+)")

    def ask(self, path, method="GET", body=None):
        """(status, headers, body) of one request."""
        connection = http.client.HTTPConnection(self.address, timeout=PATIENCE_S)
        try:
            connection.request(method, path, body)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read().decode()
        finally:
            connection.close()

    def metrics(self):
        """Its families."""
        return exposition.read(self.ask("/metrics")[2])

    def wait_until_ready(self):
        wait_for("/readyz", lambda: self.ask("/readyz")[0] == 200, self.log)

    def wait_until_counted(self, name):
        """Waits until this metric is above zero."""
        wait_for(name, lambda: self.metrics()[name].value() > 0, self.log)


def documented():
    """{name: type} of docs/metrics.md."""
    with open(os.path.join(SOURCE_ROOT, "docs", "metrics.md"), encoding="utf-8") as file:
        return {match[1]: match[2] for match in map(ROW.fullmatch, file.read().split("\n"))
                if match}


class TestPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="actorq-http-")
        with open(cls.home + "/c.yaml", "w", encoding="utf-8") as file:
            file.write("task: gym:CartPole-v1\nevaluator: {threshold: 1.0e+300}\n"
                       "net: {member_timeout_ms: 60000}\n")  # whoever lives is heard within it
        url = f"ipc://{cls.home}/learner"
        join = ["--learner", url]
        commands = {
            "replay": [REPLAY, *join, "--listen", f"ipc://{cls.home}/replay"],
            "actor": [ACTOR, *join],
            "evaluator": [ACTOR, *join, "--evaluate"],
        }
        cls.daemons = {role: Served(role, cls.home, command) for role, command in commands.items()}
        try:
            # Before there is a learner: alive, and not ready.
            cls.lonely = {}
            for role, daemon in cls.daemons.items():
                daemon.find()
                cls.lonely[role] = [daemon.ask(path) for path in ("/healthz", "/readyz")]
            cls.lonely_names = {role: set(daemon.metrics())
                                for role, daemon in cls.daemons.items()}
            cls.daemons["learner"] = Served("learner", cls.home, [
                LEARNER, "--config", cls.home + "/c.yaml", "--listen", url, "--run",
                cls.home + "/run"])
            cls.daemons["learner"].find()
            for daemon in cls.daemons.values():
                daemon.wait_until_ready()
            cls.pages = {role: daemon.metrics() for role, daemon in cls.daemons.items()}
        except BaseException:
            cls.tearDownClass()
            raise

    @classmethod
    def tearDownClass(cls):
        for daemon in cls.daemons.values():
            daemon.process.terminate()
        for daemon in cls.daemons.values():
            daemon.process.wait(PATIENCE_S)
        shutil.rmtree(cls.home, ignore_errors=True)

    def test_whoever_waits_for_a_learner_is_well_and_not_ready(self):
        for role, ((health, _, _), (readiness, _, why)) in self.lonely.items():
            self.assertEqual((health, readiness, why),
                             (200, 503, "not ready: it has not joined a run\n"), role)

    def test_names_are_there_before_they_have_values(self):
        for role, names in self.lonely_names.items():
            self.assertEqual(names, set(self.pages[role]))

    def test_the_documentation_lists_exactly_what_is_exported(self):
        exported = {name: family.type for page in self.pages.values()
                    for name, family in page.items()}
        self.assertEqual(exported, documented())

    def test_every_family_has_samples(self):
        for page in self.pages.values():
            for family in page.values():
                if family.name not in QUIET:
                    self.assertTrue(family.samples, family.name)

    def test_a_name_tells_the_role(self):
        for role, page in self.pages.items():
            others = [other for other in ROLES if other != role]
            for name in page:
                self.assertFalse(any(name.startswith(f"actorq_{other}_") for other in others), name)
            self.assertEqual(dict(next(iter(page["actorq_build_info"].samples))[1])["role"], role)

    def test_the_learner_counts_its_members(self):
        members = self.daemons["learner"].metrics()["actorq_learner_members"]
        for role in ("actor", "evaluator", "replay"):
            self.assertEqual(members.value(role=role), 1)

    def test_counters_never_fall(self):
        for role, daemon in self.daemons.items():
            before, after = daemon.metrics(), daemon.metrics()
            for name, family in before.items():
                if family.type == "gauge":
                    continue
                for key, value in family.samples.items():
                    self.assertGreaterEqual(after[name].samples[key], value, f"{role} {name} {key}")

    def test_work_is_counted(self):
        self.daemons["learner"].wait_until_counted("actorq_learner_policy_version")
        self.daemons["replay"].wait_until_counted("actorq_replay_inserted_transitions_total")
        self.daemons["actor"].wait_until_counted("actorq_actor_env_steps_total")
        self.assertEqual(self.pages["learner"]["actorq_ready"].value(), 1)

    def test_pages_have_their_types(self):
        for daemon in self.daemons.values():
            self.assertEqual(daemon.ask("/metrics")[1]["Content-Type"],
                             "text/plain; version=0.0.4; charset=utf-8")
            self.assertEqual(daemon.ask("/healthz")[::2], (200, "ok\n"))
            self.assertEqual(daemon.ask("/readyz")[::2], (200, "ready\n"))

    def test_nothing_can_be_changed(self):
        for daemon in self.daemons.values():
            for method in ("POST", "PUT", "DELETE"):
                self.assertEqual(daemon.ask("/metrics", method, "x" * 100000)[0], 405)
            self.assertEqual(daemon.ask("/metrics", "HEAD")[::2], (200, ""))
            self.assertEqual(daemon.ask("/nothing")[0], 404)

    def test_many_scrape_at_once(self):
        daemon = self.daemons["learner"]
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            pages = list(pool.map(lambda _: daemon.metrics(), range(100)))
        self.assertEqual({tuple(page) for page in pages}, {tuple(self.pages["learner"])})

    def test_an_address_in_use_is_refused_in_words(self):
        for program, more in ((LEARNER, ["--run", self.home + "/other-run", "--listen",
                                         f"ipc://{self.home}/other"]),
                              (REPLAY, ["--learner", "ipc:///nowhere", "--listen",
                                        f"ipc://{self.home}/other2"]),
                              (ACTOR, ["--learner", "ipc:///nowhere"])):
            address = self.daemons["learner"].address
            done = subprocess.run([program, *more, "--http", address], capture_output=True,
                                  text=True, timeout=PATIENCE_S, check=False)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"--http: cannot serve HTTP at {address}: address already in use",
                          done.stderr)


class TestCertificate(unittest.TestCase):
    def test_a_daemon_tells_when_its_certificate_ends(self):
        with tempfile.TemporaryDirectory(prefix="actorq-http-") as home:
            subprocess.run([ACTORQ, "certs", home + "/certs", "--days", "40"], check=True,
                           capture_output=True, timeout=PATIENCE_S)
            actor = Served("actor", home, [ACTOR, "--learner", "tcp://127.0.0.1:1",
                                           "--certs", home + "/certs/actor"])
            try:
                actor.find()
                left = actor.metrics()["actorq_certificate_end_time_seconds"].value() - time.time()
                self.assertAlmostEqual(left / 86400, 40, delta=1)
            finally:
                actor.end()


class TestStrictReader(unittest.TestCase):
    """The reader itself: a planted fault of every kind is found."""

    def test_a_good_page_is_read(self):
        page = exposition.read('# HELP a_total x.\n# TYPE a_total counter\na_total{b="c\\""} 1\n'
                               "# HELP h x.\n# TYPE h histogram\n"
                               'h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 3\nh_count 3\n')
        self.assertEqual(page["a_total"].value(b='c\\"'), 1)

    def test_faults_are_found(self):
        gauge = "# HELP a x.\n# TYPE a gauge\n"
        histogram = "# HELP h x.\n# TYPE h histogram\n"
        for page in (gauge + "a 1", gauge + "b 1\n", gauge + "a NaN\n", gauge + "a 1\na 2\n",
                     gauge + gauge, gauge + 'a{b="1} 1\n', gauge + 'a{b="1",} 1\n',
                     gauge + 'a{b="1",b="2"} 1\n', "a 1\n", "# TYPE a gauge\na 1\n",
                     "# HELP a x.\na 1\n", "# HELP a x.\n# TYPE a counter\na 1\n",
                     "# HELP a_total x.\n# TYPE a_total gauge\n", gauge + "\na 1\n",
                     "# HELP a_total x.\n# TYPE a_total counter\na_total -1\n",
                     histogram + 'h_bucket{le="1"} 2\nh_bucket{le="+Inf"} 1\nh_count 1\n',
                     histogram + 'h_bucket{le="1"} 2\nh_count 2\n',
                     histogram + 'h_bucket{le="+Inf"} 2\nh_count 3\n'):
            with self.assertRaises(exposition.Malformed, msg=page):
                exposition.read(page)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
