#!/usr/bin/env python3
"""Trains every task of `actorq envs` by its name alone, for a short while.

    tests/tasks/every_task.py ACTORQ [--seeds N] [--steps N] [TASK...]

A task passes when the mean return of the policy that the run keeps lies three standard errors above
that of random actions, or when `actorq train` says in one line why not. A line that names an option
is followed. Prints a row of Markdown for each run; docs/environments.md has what came of them.
"""
import argparse
import json
import math
import re
import subprocess
import sys
import tempfile

EPISODES = 100
# Environment steps of a run, by suite. The control suite's presets want half a million.
STEPS = {"dmc": 4_000, "game": 50_000, "gym": 200_000}
WALL_S = 300
# With the closing evaluation, which is 200 episodes of a thousand steps for a humanoid.
PATIENCE_S = 4 * WALL_S


def answer(*arguments):
    """What a command prints, or what it says is wrong."""
    try:
        done = subprocess.run(arguments, capture_output=True, text=True, check=False,
                              timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        return None, f"no end after {PATIENCE_S} s\n"
    return (json.loads(done.stdout), "") if done.returncode == 0 else (None, done.stderr.strip())


def figure(result):
    return f"{result['return_mean']:.4g} ± {result['return_std']:.2g}"


def is_better(result, baseline):
    """By three standard errors of their difference."""
    error = math.hypot(*(each["return_std"] / math.sqrt(each["episodes"])
                         for each in (result, baseline)))
    return result["return_mean"] > baseline["return_mean"] + 3 * error


def try_task(arguments, task, seed):
    """True when it learns, or says why not; prints its row."""
    steps = arguments.steps or STEPS[task.split(":")[0]]
    with tempfile.TemporaryDirectory() as folder:
        result, said = answer(arguments.actorq, "train", task, "--seed", str(seed), "--run",
                              f"{folder}/run", "--json", "--quiet", "--no-http",
                              "--set", f"limits.env_steps={steps}",
                              "--set", f"limits.wall_s={WALL_S}")
    if result is None:
        print(f"| `{task}` | {seed} | refused: {said.strip()} |", flush=True)
        option = re.search(r"\?(\w+=\w+)", said)
        is_followed = option is None or "?" in task or \
            try_task(arguments, f"{task}?{option.group(1)}", seed)
        return is_followed and said != "" and "\n" not in said
    baseline, said = answer(arguments.actorq, "eval", "random", "--env", task, "--episodes",
                            str(EPISODES), "--seed", "1", "--json")
    if baseline is None:
        print(f"| `{task}` | {seed} | no baseline: {said} |", flush=True)
        return False
    learns = is_better(result, baseline)
    why = "; ".join(finding["words"] for finding in result["findings"])
    verdict = "solved" if result["solved"] else "learns" if learns else why or "no word why not"
    print(f"| `{task}` | {seed} | {result['format']} | "
          f"{result['env_steps']:,} | {result['wall_s']:.0f} s | {figure(baseline)} | "
          f"{figure(result)} | {verdict} |", flush=True)
    return learns or why != ""


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("actorq")
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="default: all")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--steps", type=int, help="instead of the suite's")
    arguments = parser.parse_intermixed_args()
    listed, said = answer(arguments.actorq, "envs", "--json")
    if listed is None:
        sys.exit(said)
    tasks = arguments.tasks or [task["name"] for task in listed["envs"]]
    print("| task | seed | format | steps | time | random actions | best policy | |")
    print("|---" * 8 + "|")
    bad = [task for task in tasks for seed in range(1, arguments.seeds + 1)
           if not try_task(arguments, task, seed)]
    if bad:
        sys.exit(f"neither learnt nor said why not: {', '.join(bad)}")


if __name__ == "__main__":
    main()
