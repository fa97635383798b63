"""The dashboard in a browser: a real run, and what a person sees of it.

    test_dashboard_page.py LEARNER REPLAY ACTOR ACTORQ [unittest's arguments]

Without a browser it says so and is skipped (status 77).
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import browser

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from daemons import PATIENCE_S, Daemon, wait_for

HOSTILE = "<img src=x onerror=\"document.title='owned'\"></td><script>document.title='owned'" \
    "</script>"
LEARNER, REPLAY, ACTOR, ACTORQ = map(os.path.abspath, sys.argv[1:5]) if len(sys.argv) > 4 else \
    [""] * 4


def free_port():
    """A port that nobody has now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Run:
    """Daemons of one run, as processes of their own."""

    def __init__(self):
        self.home = tempfile.mkdtemp(prefix="actorq-page-")
        self.url = f"ipc://{self.home}/learner"
        self.port = free_port()
        self.daemons = []
        with open(self.home + "/c.yaml", "w", encoding="utf-8") as file:
            file.write("task: gym:CartPole-v1\nevaluator: {threshold: 1.0e+300, fp32: yes}\n"
                       "limits: {env_steps: 1000000000}\nnet: {member_timeout_ms: 600000}\n"
                       "learner: {checkpoint_period_s: 1}\n")
        self.learner = self.start_learner()
        for name, program, *more in (("replay", REPLAY, "--listen", f"ipc://{self.home}/replay"),
                                     ("actor", ACTOR), ("evaluator", ACTOR, "--evaluate")):
            self.start(name, program, "--learner", self.url, *more)

    def start(self, name, *command):
        self.daemons.append(Daemon(self.home, name, command))
        return self.daemons[-1]

    def start_learner(self, *more):
        """The learner, which serves the page."""
        return self.start("learner", LEARNER, "--config", self.home + "/c.yaml", "--listen",
                          self.url, "--run", self.home + "/run", "--http",
                          f"127.0.0.1:{self.port}", *more)

    def page(self, path=""):
        """Where a browser finds it."""
        return f"http://127.0.0.1:{self.port}/{path}"

    def status(self):
        """What `actorq status` says."""
        out = subprocess.run([ACTORQ, "status", self.url, "--json"], check=True,
                             capture_output=True, timeout=PATIENCE_S)
        return json.loads(out.stdout)

    def call(self, method, request):
        """A remote call."""
        subprocess.run([ACTORQ, "call", self.url, method, json.dumps(request)], check=True,
                       capture_output=True, timeout=PATIENCE_S)

    def trains(self):
        """There is something to see."""
        try:
            with urllib.request.urlopen(self.page("api/run"), timeout=5) as answer:
                learner = json.load(answer)["status"]["learner"]
        except OSError:
            return False
        return learner["learner_steps"] > 0 and learner["evaluations"] > 2

    def end(self):
        """All of it goes."""
        for daemon in self.daemons:
            daemon.kill()
        shutil.rmtree(self.home, ignore_errors=True)


def count_of(text):
    """The number that "12.3k" stands for, give or take its last digit."""
    match = re.fullmatch(r"([\d.]+)([kMG]?)", text)
    return float(match.group(1)) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[match.group(2)]


class Page(unittest.TestCase):
    """In the order of their names: what ends the learner comes last."""

    @classmethod
    def setUpClass(cls):
        cls.run_ = Run()
        try:
            wait_for("training", cls.run_.trains, cls.run_.learner.log, pause_s=0.2)
            cls.browser = browser.Browser()
            cls.browser.resize(1280, 900)
            cls.browser.open(cls.run_.page())
            cls.browser.wait_for("document.querySelector('#live').textContent === 'live'")
            cls.browser.wait_for("document.querySelectorAll('.dygraph-axis-label').length > 20")
        except BaseException:
            cls.run_.end()
            raise

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        cls.run_.end()

    def fact(self, term):
        """What the page says behind a term."""
        return self.browser.evaluate(
            "[...document.querySelectorAll('dt')].find((each) => each.textContent === "
            f"{json.dumps(term)}).nextElementSibling.textContent")

    def test_1_says_what_status_says(self):
        before = self.run_.status()
        shown = self.browser.text("#tiles .tile:nth-child(2) .more")
        last, later, steps = time.monotonic() + PATIENCE_S, shown, -1
        while later == shown or steps < before["learner"]["env_steps"] * 0.99 - 1:
            self.assertLess(time.monotonic(), last, later)
            time.sleep(0.1)
            later = self.browser.text("#tiles .tile:nth-child(2) .more")
            steps = count_of(re.match(r"([\d.]+[kMG]?) steps", later).group(1))
        after = self.run_.status()
        self.assertLessEqual(steps, after["learner"]["env_steps"] * 1.01 + 1)
        self.assertEqual(self.browser.text("#task"), "gym:CartPole-v1")
        self.assertIn(f"seed {before['seed']}", self.browser.text("#chips"))
        self.assertEqual(int(self.fact("Run"), 16), int(before["run_id"]))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('#members tbody tr')"
                                               ".length"), 2)
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('#shards tbody tr')"
                                               ".length"), 1)
        headline = self.browser.text("#headline")
        self.assertTrue(headline.startswith("Training"), headline)
        self.assertNotIn("solved at", headline, "its threshold is out of reach")

    def test_2_draws_every_chart(self):
        drawn = self.browser.evaluate("""[...document.querySelectorAll(".chart")].map((chart) => {
            const inks = [...chart.querySelectorAll(".legend > span:not([hidden]) i")].map(
                (mark) => getComputedStyle(mark).color.match(/\\d+/g).map(Number));
            const canvas = chart.querySelector("canvas");
            const pixels = canvas ? canvas.getContext("2d").getImageData(0, 0, canvas.width,
                canvas.height).data : [];
            let inked = 0;
            for (let i = 0; i < pixels.length; i += 4) {
                inked += pixels[i + 3] > 128 && inks.some((ink) => ink.slice(0, 3).every(
                    (level, part) => Math.abs(level - pixels[i + part]) < 8));
            }
            return [chart.querySelector("h2").textContent, inks.length, canvas !== null, inked];
        })""")
        self.assertGreater(sum(series > 0 for _, series, _, _ in drawn), 8, drawn)
        for title, series, has_canvas, inked in drawn:
            self.assertEqual(has_canvas, series > 0, title)
            self.assertGreaterEqual(inked, 5 if series else 0, title)  # a few points at first

    def answer_instead(self, path, change):
        """Has the page take answers for others, until `answer_again`; counts them in `changed`."""
        self.browser.evaluate("""(() => {
            const real = window.realFetch = window.realFetch || window.fetch;
            window.changed = 0;
            window.fetch = async (path, how) => {
                const answer = await real(path, how);
                if (!path.startsWith(%s)) {
                    return answer;
                }
                const told = await answer.json();
                (%s)(told);
                window.changed++;
                return new Response(JSON.stringify(told));
            };
        })()""" % (json.dumps(path), change))

    def answer_again(self):
        """Answers are the learner's own."""
        self.browser.evaluate("void (window.fetch = window.realFetch)")

    def test_3_shows_other_spans_and_axes(self):
        for button in ("minutes", "hour", "run"):
            self.browser.evaluate(f"document.querySelector('[data-span={button}]').click()")
            self.browser.wait_for("document.querySelectorAll('.chart canvas').length > 10")
            self.assertEqual(self.browser.evaluate(
                f"document.querySelector('[data-span={button}]').ariaPressed"), "true")
        self.browser.evaluate("document.querySelector('[data-axis=steps]').click()")
        self.browser.wait_for("[...document.querySelectorAll('.dygraph-axis-label-x')].some("
                              "(each) => /k|M/.test(each.textContent))")
        self.browser.evaluate("document.querySelector('[data-axis=time]').click()")

    def test_3_offers_no_axis_of_steps_that_stand_still(self):
        button = "document.querySelector('[data-axis=steps]')"
        self.browser.evaluate(button + ".click()")
        self.answer_instead("api/history", "(history) => { history.progress.env_steps.fill(7); }")
        self.browser.wait_for(button + ".disabled")
        self.browser.wait_for("document.querySelectorAll('.chart canvas').length > 10")
        self.answer_again()
        self.browser.wait_for("!" + button + ".disabled")
        self.browser.evaluate("document.querySelector('[data-axis=time]').click()")

    def test_3_shows_what_a_pointer_rests_on(self):
        chart = "[...document.querySelectorAll('.chart')].find((each) => " \
            "each.querySelector('h2').textContent === 'Environment steps per second')"
        legend = chart + ".querySelector('.legend b').textContent"
        self.browser.evaluate("document.querySelector('[data-span=minutes]').click()")
        self.browser.wait_for(chart + ".querySelector('canvas')")
        left, top = self.browser.evaluate(
            f"(() => {{ const plot = {chart}.querySelector('.plot');"
            "plot.scrollIntoView({block: 'center'});"
            "const place = plot.getBoundingClientRect();"
            "return [place.left + place.width / 2, place.top + place.height / 2]; })()")
        self.answer_instead("api/history", "(history) => { const rates = "
                            "history.progress.env_rate; rates[rates.length - 1] = 1e9; }")
        self.browser.wait_for(legend + " === '1.0G'")
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=left, y=top)
        rested = self.browser.evaluate(legend)
        self.assertNotEqual(rested, "1.0G")
        self.browser.evaluate("window.changed = 0")
        self.browser.wait_for("window.changed > 2")
        self.assertEqual(self.browser.evaluate(legend), rested)
        self.browser.call("Input.dispatchMouseEvent", type="mouseMoved", x=1, y=1)
        self.browser.wait_for(legend + " === '1.0G'")
        self.answer_again()
        self.browser.evaluate("document.querySelector('[data-span=run]').click()")

    def test_3_tells_small_figures_apart(self):
        chart = "[...document.querySelectorAll('.chart')].find((each) => " \
            "each.querySelector('h2').textContent.startsWith('%s'))"
        self.answer_instead("api/history", "({progress, screened}) => {"
                            "progress.staleness = progress.staleness.map((_, i) => i % 2);"
                            "screened.return.fill(0.734); }")
        self.browser.wait_for(chart % "Return" + ".querySelector('b').textContent === '0.734'")
        places = self.browser.evaluate(f"[...{chart % 'Staleness'}.querySelectorAll("
                                       "'.dygraph-axis-label-y')].map((each) => each.textContent)")
        self.assertGreater(len(places), 2)
        self.assertEqual(len(places), len(set(places)), places)
        self.answer_again()

    def test_3_has_the_charts_of_another_run(self):
        names = "[...document.querySelectorAll('.metrics h2')].map((each) => " \
            "each.textContent).join()"
        before = self.browser.evaluate(names)
        self.answer_instead("api/run", "(run) => { run.run_id = 'other'; run.status.learner.metrics"
                            " = [{name: 'other', title: 'other', unit: '', meaning: ''}]; }")
        self.browser.wait_for(names + " === 'Other'")
        self.answer_again()
        self.browser.wait_for(names + " === " + json.dumps(before))

    def test_4_is_dark_where_that_is_preferred_or_chosen(self):
        ground = "getComputedStyle(document.body).backgroundColor"
        self.browser.prefer("light")
        light = self.browser.evaluate(ground)
        self.browser.prefer("dark")
        dark = self.browser.evaluate(ground)
        self.assertNotEqual(light, dark)
        self.browser.evaluate("document.querySelector('#theme').click()")
        self.assertEqual(self.browser.evaluate(ground), light)
        self.browser.prefer("light")
        self.browser.evaluate("document.querySelector('#theme').click()")
        self.assertEqual(self.browser.evaluate(ground), dark)
        self.browser.evaluate("document.querySelector('#theme').click()")
        self.assertEqual(self.browser.text("#theme"), "Colours: automatic")

    def test_5_fits_on_a_phone(self):
        self.browser.resize(360, 740, mobile=True)
        time.sleep(0.5)
        self.assertLessEqual(self.browser.evaluate("document.documentElement.scrollWidth"), 360)
        self.assertEqual(self.browser.evaluate(
            "[...document.querySelectorAll('main > section, header, .card')].filter((each) => "
            "each.getBoundingClientRect().right > 360.5).length"), 0)
        self.browser.resize(1280, 900)

    def test_6_takes_a_hostile_name_for_a_text(self):
        self.run_.call("Membership/Join", {"role": "ROLE_ACTOR", "incarnation": 4711,
                                           "host": HOSTILE, "pid": 1, "software": "0"})
        self.browser.wait_for("document.querySelector('#members').textContent.includes('onerror')")
        shown = self.browser.evaluate(
            "[...document.querySelectorAll('#members td')].some((each) => each.textContent === "
            f"{json.dumps(HOSTILE)})")
        self.assertTrue(shown)
        self.assertEqual(self.browser.evaluate("document.images.length"), 0)
        self.assertEqual(self.browser.evaluate("document.scripts.length"), 2)
        self.assertNotIn("owned", self.browser.evaluate("document.title"))

    def test_7_asks_nobody_else_and_complains_of_nothing(self):
        self.assertEqual([each for each in self.browser.requests
                          if not each.startswith((self.run_.page(), "data:"))], [])
        self.assertEqual(self.browser.complaints, [])

    def test_8_says_when_the_learner_is_away_and_goes_on_when_it_is_back(self):
        self.run_.learner.kill()
        self.browser.wait_for("!document.querySelector('#away').hidden")
        self.assertRegex(self.browser.text("#away"), r"^No answer from the learner since \d")
        self.assertEqual(self.browser.text("#live"), "no answer")
        self.assertEqual(self.browser.text("#task"), "gym:CartPole-v1")
        self.run_.learner = self.run_.start_learner("--resume")
        self.browser.wait_for("document.querySelector('#away').hidden")
        self.assertEqual(self.browser.text("#live"), "live")
        with urllib.request.urlopen(self.run_.page("api/history"), timeout=PATIENCE_S) as answer:
            wall = json.load(answer)["progress"]["wall_s"]
        self.assertLess(wall[0], 3, "the history begins where the run began")
        self.assertEqual(wall, sorted(wall))


if __name__ == "__main__":
    if not browser.find():
        print("no Chromium: apt-get install chromium")
        sys.exit(77)
    os.chdir("/")
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
