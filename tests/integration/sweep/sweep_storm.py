#!/usr/bin/env python3
"""Workers of a sweep are killed at random moments, and no run is lost or counted twice.

    sweep_storm.py ACTORQ [KILLS]

A small sweep of CartPole with two workers of its own and one from outside; processes of any of
them are killed as AQ_SEED says, their trainings included, until there were so many kills or the
sweep has ended. Then it goes on in calm. The last line is "K kills, R runs, 0 lost, 0 twice".
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "support"))
from daemons import below

SPEC = """\
task: gym:CartPole-v1
trials: {trials}
round: 6
prune: yes
space:
  learner.learning_rate: {{log: [1e-4, 1e-2]}}
  learner.batch_size: {{pow2: [16, 128]}}
seeds: {{tune: 1, report: 2}}
settings: {{evaluator.threshold: "1e9"}}
rungs: [3000, 8000]
"""


def is_of_sweep(pid):
    """A worker, or a training of one."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            words = file.read().split(b"\0")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return b"work" in words or b"train" in words


def has_begun(folder):
    """There is something to go on from."""
    return os.path.exists(f"{folder}/journal.jsonl") and \
        os.path.getsize(f"{folder}/journal.jsonl") > 0


def storm(command, outside, folder, kills, chance):
    """Kills until there were so many, the sweep is over, or who started its workers was killed as
    well; how many there were."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as sweep:
        other = None
        done = 0
        while sweep.poll() is None and done < kills:
            if (other is None or other.poll() is not None) and has_begun(folder):
                other = subprocess.Popen(outside, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.1, 1.2))
            theirs = [*below(sweep.pid), *([other.pid] + below(other.pid) if other else [])]
            victims = [pid for pid in theirs if is_of_sweep(pid)]
            if chance.randrange(20) == 0 and has_begun(folder):
                sweep.kill()
                done += 1
            elif victims:
                try:
                    os.kill(chance.choice(victims), signal.SIGKILL)
                    done += 1
                except ProcessLookupError:
                    pass
        sweep.terminate()
        sweep.wait()
        if other is not None:
            other.terminate()
            other.wait()
        return done


def is_over(folder):
    """Whether the journal says that nothing is left to do."""
    with open(f"{folder}/journal.jsonl", encoding="utf-8") as file:
        return '"event": "end"' in file.read().rsplit("\n", 2)[-2]


def account(folder):
    """Of the journal: runs, those without an outcome, those with two."""
    runs, reports = 0, {}
    with open(f"{folder}/SPEC.yaml", encoding="utf-8") as file:
        report_seeds = 2 if "report: 2" in file.read() else 0
    with open(f"{folder}/journal.jsonl", encoding="utf-8") as file:
        for line in file:
            event = json.loads(line[9:])
            if event["event"] == "suggest":
                runs += sum(1 if stage["kind"] == "tune" else report_seeds
                            for stage in event["stages"])
            elif event["event"] == "report":
                reports.setdefault(event["run"], []).append(event)
    lost = [run for run in range(runs) if run not in reports]
    twice = [run for run, events in reports.items() if len(events) > 1]
    failed = [events[0].get("reason") for events in reports.values() if events[0]["failed"]]
    return runs, lost, twice, failed


def main():
    actorq, kills = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8
    seed = int(os.environ.get("AQ_SEED", "1"))
    print(f"AQ_SEED={seed}", flush=True)
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as place:
        spec, folder = f"{place}/spec.yaml", f"{place}/sweep"
        with open(spec, "w", encoding="ascii") as file:
            file.write(SPEC.format(trials=8 + 2 * kills))
        command = [actorq, "sweep", spec, "--folder", folder, "--workers", "2", "-q"]
        outside = [actorq, "sweep", "work", folder, "-q"]
        done = storm(command, outside, folder, kills, chance)
        assert has_begun(folder)
        command = [actorq, "sweep", "--folder", folder, "--resume", "--workers", "2", "-q"]
        while done < kills and not is_over(folder):
            done += storm(command, outside, folder, kills - done, chance)
        calm = subprocess.run([*command, "--json"], stdout=subprocess.PIPE, check=True,
                              encoding="utf-8")
        status = json.loads(calm.stdout)
        runs, lost, twice, failed = account(folder)
        assert status["ended"] and status["done"] == status["wanted"], status
        assert not lost and not twice, (lost, twice)
        assert not failed, failed
        assert all(trial["score"] is not None for trial in status["trials"]), status
        print(f"{done} kills, {runs} runs, 0 lost, 0 twice")


if __name__ == "__main__":
    main()
