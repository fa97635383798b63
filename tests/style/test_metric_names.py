"""What is deployed with the daemons asks for metrics that exist: alerts, dashboard, documentation.

    test_metric_names.py [unittest's arguments]

docs/metrics.md lists what is exported; the integration test metrics_pages holds it to the daemons.
"""

import json
import os
import re
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DASHBOARD = "deploy/grafana/dashboards/actorq.json"
ALERTS = "deploy/prometheus/alerts.yml"
ROW = re.compile(r"\| `(actorq_\w+)` \| (\w+) \| ([^|]*) \| (.*) \|")
USED = re.compile(r"actorq_\w+")
EXPRESSION = re.compile(r"^ {8}expr: (.*(?:\n {10}.*)*)", re.MULTILINE)
# What a checkpoint or a snapshot restores may be behind what was scraped last, and is then no
# counter's reset.
RESTORED = re.compile(r"(?:rate|increase)\(actorq_(?:learner_(?:env_steps|steps|policy_deltas|"
                      r"policies_published|quantization_fallbacks|broadcast_\w+|run_\w+)|"
                      r"replay_(?:inserted_transitions|table_\w+))_total")
JOB = re.compile(r"job_name: (\w+)")


def text_of(path):
    """The text of a file of the tree."""
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def samples():
    """Every name that a sample can have, by docs/metrics.md: {name: type of its family}."""
    names = {}
    for match in filter(None, map(ROW.fullmatch, text_of("docs/metrics.md").split("\n"))):
        suffixes = ("_bucket", "_count") if match[2] == "histogram" else ("",)
        names.update({match[1] + suffix: match[2] for suffix in suffixes})
    return names


def alert_expressions():
    """The expressions of the alerts, all lines of folded ones."""
    return EXPRESSION.findall(text_of(ALERTS))


def dashboard_expressions():
    """The expressions of the dashboard."""
    return [target["expr"] for panel in json.loads(text_of(DASHBOARD))["panels"]
            for target in panel.get("targets", ())]


class TestMetricNames(unittest.TestCase):
    def check(self, expressions):
        """Only known names, and rates of what never falls only."""
        known = samples()
        for expression in expressions:
            names = USED.findall(expression)
            self.assertTrue(names, expression)
            for name in names:
                self.assertIn(name, known, expression)
            for name in re.findall(r"(?:rate|increase)\((actorq_\w+)", expression):
                self.assertNotEqual(known[name], "gauge", expression)

    def test_the_documentation_lists_names(self):
        self.assertGreater(len(samples()), 90)

    def test_alerts_use_what_is_exported(self):
        expressions = alert_expressions()
        self.assertEqual(len(expressions), text_of(ALERTS).count("- alert:"))
        self.check(expressions)

    def test_the_dashboard_uses_what_is_exported(self):
        self.check(dashboard_expressions())

    def test_a_resumed_run_makes_no_graph_leap(self):
        for expression in dashboard_expressions():
            self.assertIsNone(RESTORED.search(expression), expression)

    def test_every_role_is_scraped(self):
        jobs = JOB.findall(text_of("deploy/prometheus/prometheus.yml"))
        self.assertEqual(sorted(jobs), ["actor", "evaluator", "learner", "replay"])

    def test_every_alert_is_explained(self):
        for name in re.findall(r"- alert: (\w+)", text_of(ALERTS)):
            self.assertIn(f"| `{name}` |", text_of("docs/metrics.md"))

    def test_panels_have_numbers_of_their_own(self):
        ids = [panel["id"] for panel in json.loads(text_of(DASHBOARD))["panels"]]
        self.assertEqual(len(set(ids)), len(ids))


if __name__ == "__main__":
    unittest.main()
