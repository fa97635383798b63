#!/usr/bin/env python3
"""How soon A3C has solved CartPole with two actors beside one, over many seeds.

    bench/gradient_actors.py --only wide [--first-seed S] [--seeds N] [--report]

Trains with each of ARMS in turns, seed by seed, one run at a time: one actor and all else of the
run on one processor, one actor on two, two actors on two. Counted as the threads of A3C were, a
second actor comes with a processor of its own; beside the arm in the middle it does not. Seconds
are from the start of `actorq train` to the known end of training, so starting is in them. The
policy that a run kept is played once more, over 100 fresh greedy episodes.

A run that was not solved within its steps counts as one that never is. Intervals are of 10,000
draws of the seeds, with all arms of a seed drawn together. Runs are kept in
bench/curves/gradient-actors.csv, and are not made again; with --report nothing is trained.
"""
import argparse
import math
import os
import statistics
import tempfile

from campaign import CURVES, ROOT, head_of, row_of
from run_once import append, ask, rows_of
from sooner import soon_of, times_of

KEPT = CURVES / "gradient-actors.csv"
COLUMNS = ["setting", "actors", "processors", "seed", "solved", "wall_s", "env_steps",
           "return_mean"]
# The first is the one that the others are measured by.
ARMS = [(1, 1), (1, 2), (2, 2)]  # actors, processors
SETTINGS = {
    "preset": [],
    "wide": ["learner.hidden=256,256", "learner.critic_hidden=256,256", "learner.group_steps=512",
             "learner.learning_rate=0.0005", "learner.discount=0.98", "learner.gae_lambda=0.98",
             "net.message_bytes=1200000"],
}
SCORE = 475
EPISODES = 100


def run_of(actorq, setting, arm, seed):
    actors, processors = arm
    own = sorted(os.sched_getaffinity(0))[:processors]
    options = [word for pair in SETTINGS[setting] for word in ("--set", pair)]
    with tempfile.TemporaryDirectory() as work:
        run = f"{work}/run"
        said = ask("taskset", "-c", ",".join(map(str, own)), actorq, "train", "gym:CartPole-v1",
                   "--gradients", "--no-http", "--actors", str(actors), "--set",
                   "learner.algorithm=a2c", *options, "--seed", str(seed), "--run", run,
                   "--parent", str(os.getpid()), "--quiet", "--json")
        if said["interrupted"]:
            raise SystemExit("interrupted")
        kept = ask(actorq, "eval", run, "--episodes", str(EPISODES), "--seed", str(1000 + seed),
                   "--json")
    return [setting, actors, processors, seed, int(said["solved"]), f"{said['wall_s']:.3f}",
            said["env_steps"], f"{kept['return_mean']:.1f}"]


def kept_runs(setting, seeds):
    """By arm and seed."""
    return {((int(row["actors"]), int(row["processors"])), int(row["seed"])): row
            for row in rows_of(KEPT) if row["setting"] == setting and int(row["seed"]) in seeds}


def report(setting, wanted):
    runs = kept_runs(setting, wanted)
    seeds = [seed for seed in wanted if all((arm, seed) in runs for arm in ARMS)]
    if not seeds:
        return
    print(f"\n`{setting}`, seeds {seeds[0]} to {seeds[-1]}, {len(seeds)} in all\n")
    print(head_of(["actors", "processors", "solved", "s, median", "quartiles", "steps, median",
                   "steps/s, median", "times as soon, 95 %", f"kept policy >= {SCORE}"], left=0))
    seconds = {key: float(row["wall_s"]) if row["solved"] == "1" else math.inf
               for key, row in runs.items()}
    for arm in ARMS:
        mine = [runs[arm, seed] for seed in seeds]
        rate = statistics.median(int(row["env_steps"]) / float(row["wall_s"]) for row in mine)
        solved = sum(row["solved"] == "1" for row in mine)
        print(row_of([*arm, f"{solved} of {len(seeds)}", *times_of(seconds, arm, seeds, ".2f"),
                      f"{statistics.median(int(row['env_steps']) for row in mine):,.0f}",
                      f"{rate:,.0f}", soon_of(seconds, ARMS[0], arm, seeds),
                      sum(float(row["return_mean"]) >= SCORE for row in mine)]))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=sorted(SETTINGS), help="one of the settings, not all")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--actorq", default=str(ROOT / "build" / "cli" / "actorq"))
    parser.add_argument("--report", action="store_true", help="only tell what there is")
    arguments = parser.parse_args()
    if not arguments.report and len(os.sched_getaffinity(0)) < max(ARMS)[1]:
        parser.error(f"{max(ARMS)[1]} processors are needed: fewer would pass for as many")
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    for setting in [arguments.only] if arguments.only else SETTINGS:
        for seed in seeds if not arguments.report else []:
            for arm in ARMS:
                if (arm, seed) not in kept_runs(setting, seeds):
                    append(KEPT, COLUMNS, [run_of(arguments.actorq, setting, arm, seed)])
        report(setting, seeds)


if __name__ == "__main__":
    main()
