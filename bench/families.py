#!/usr/bin/env python3
"""What each family of algorithms reaches: a table of tasks, by medians over seeds.

    bench/families.py --rows GROUP [--seeds N] [--only TEXT] --work DIR

Trains each row of GROUP with the seeds 1, 2, 3, ..., plays the policy that the run kept, as it was
broadcast, over fresh greedy episodes of another seed, and prints a table in Markdown: median, least
and greatest mean return, how many seeds came to the target, and medians of seconds: by the wall,
from the start of `actorq train` to its end, and of processors, all processes together. Runs that
DIR has already are not made again.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Task, algorithm, settings besides, episodes that judge, target. Of the tables only q's targets are
# of the best policy; sarsa and expected_sarsa keep away from the cliff, in 17 steps or 15.
TASKS = [("gym:FrozenLake-v1", 10_000, 0.73), ("gym:FrozenLake8x8-v1", 10_000, 0.89),
         ("gym:CliffWalking-v1", 100, -13), ("gym:Taxi-v3", 10_000, 7.85),
         ("gym:Blackjack-v1", 100_000, -0.05)]
ROWS = {
    "tabular": [{"task": task, "algorithm": algorithm, "settings": [], "episodes": episodes,
                 "target": -17 if target == -13 and algorithm != "q" else target}
                for algorithm in ["q", "sarsa", "expected_sarsa"]
                for task, episodes, target in TASKS],
    "on-policy": [{"task": task, "algorithm": algorithm, "settings": settings, "episodes": 100,
                   "target": target} for task, algorithm, settings, target in [
                       ("gym:CartPole-v1", "ppo", [], 475), ("gym:CartPole-v1", "trpo", [], 475),
                       ("gym:CartPole-v1", "reinforce", [], 475),
                       ("gym:CartPole-v1", "a2c", [], 475), ("gym:CartPole-v1", "impala", [], 475),
                       ("gym:Acrobot-v1", "ppo", [], -85), ("gym:MountainCar-v0", "trpo", [], -110),
                       ("gym:Pendulum-v1", "ppo", [], -180),
                       ("gym:Pendulum-v1", "ppo", ["evaluator.threshold=-200"], -200)]],
    "soft": [{"task": task, "algorithm": "sac", "settings": settings, "episodes": 100,
              "target": target} for task, settings, target in [
                  ("gym:MountainCarContinuous-v0",
                   ["limits.env_steps=50000", "evaluator.threshold=99"], 93),
                  ("gym:Pendulum-v1",
                   ["limits.env_steps=20000", "evaluator.threshold=-100"], -160)]],
}


def command(row):
    return ["train", row["task"], "--set", f"learner.algorithm={row['algorithm']}",
            *[word for setting in row["settings"] for word in ("--set", setting)]]


def train(actorq, row, folder, seed):
    """Seconds by the wall and of processors; of a run that was made before, those of then."""
    kept = folder.with_name(f"{folder.name}.times.json")
    if not kept.exists():
        begun = time.monotonic()
        child = subprocess.Popen([actorq, *command(row), "--seed", str(seed), "--run", str(folder),
                                  "--quiet", "--json"], stdout=subprocess.DEVNULL)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{folder} has failed: {actorq} {' '.join(command(row))}")
        kept.write_text(json.dumps([time.monotonic() - begun, used.ru_utime + used.ru_stime]))
    return json.loads(kept.read_text())


def kept_return(actorq, row, folder, seed):
    done = subprocess.run([actorq, "eval", str(folder), "--episodes", str(row["episodes"]),
                           "--seed", str(1000 + seed), "--json"], check=True, capture_output=True)
    return json.loads(done.stdout)["return_mean"]


def measure(actorq, row, work, seeds):
    returns, times = [], []
    for seed in range(1, seeds + 1):
        name = "-".join([row["task"], row["algorithm"], *row["settings"], str(seed)])
        folder = work / "".join(c if c.isalnum() or c in "._-" else "_" for c in name)
        times.append(train(actorq, row, folder, seed))
        returns.append(kept_return(actorq, row, folder, seed))
    return returns, times


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", choices=ROWS, required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--only", default="", help="rows whose command has this text in it")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where the runs go")
    parser.add_argument("--actorq", default=str(ROOT / "build" / "cli" / "actorq"))
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    print("| `actorq …` | episodes | median | least to most | target | reached | wall s "
          "| processor s |\n|---|---|--:|--:|--:|--:|--:|--:|--:|")
    for row in ROWS[arguments.rows]:
        if arguments.only not in " ".join(command(row)):
            continue
        returns, times = measure(arguments.actorq, row, arguments.work, arguments.seeds)
        reached = sum(value >= row["target"] for value in returns)
        wall, used = (statistics.median(column) for column in zip(*times))
        print(f"| `{' '.join(command(row))}` | {row['episodes']:,} "
              f"| {statistics.median(returns):.4g} | {min(returns):.4g} to {max(returns):.4g} "
              f"| {row['target']} | {reached} of {arguments.seeds} | {wall:.2f} | {used:.2f} |",
              flush=True)


if __name__ == "__main__":
    main()
