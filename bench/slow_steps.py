#!/usr/bin/env python3
"""How soon A3C has a score where environments take their time, by the number of its actors.

    bench/slow_steps.py --work DIR [--only even] [--seeds N] [--jobs N] [--report]

Trains CartPole whose every step first sleeps a millisecond with each of SETTINGS, each number of
actors in ARMS and the seeds 1, 2, 3, ..., for SECONDS divided by that number, so that all make
about as many steps. Such runs need little of a processor, so --jobs of them go side by side, those
of a seed begun together. The learner writes up to a hundred checkpoints. When the run is over,
what each held is played greedily in the format of its run, and without sleeping, so that looking
costs no run anything: the first that comes to SCORE over SCREEN episodes, and then over EPISODES
fresh ones, is when the run had the score. Times are the learner's, from its start.

A run without one counts as one that never has it. Intervals are of 10,000 draws of the seeds, with
all arms of a seed drawn together. Runs are kept in bench/curves/slow-steps.csv, and are not made
again; with --report nothing is trained.
"""
import concurrent.futures
import math
import os
import shutil
import signal
import statistics
import subprocess
import time

from campaign import CURVES, head_of, options, row_of
from run_once import ENVIRONMENT, append, ask, rows_of
from sooner import soon_of, times_of

KEPT = CURVES / "slow-steps.csv"
COLUMNS = ["setting", "actors", "seed", "score_s", "score_steps", "wall_s", "env_steps"]
TASK = "gym:CartPole-v1"
ARMS = [1, 2, 4]  # the first is the one that the others are measured by
SECONDS = 300
CHECKPOINTS = 100
SETTINGS = {
    "preset": [],
    "even": ["learner.group_steps=512", "learner.learning_rate=0.0005", "learner.discount=0.98",
             "learner.gae_lambda=0.98"],
}
LAYERS = "0:bf16,-1:fp32"  # that a run sends in another format than int8
SCORE = 475
SCREEN = 20
EPISODES = 100


def train(actorq, setting, actors, seed, folder):
    seconds = SECONDS / actors
    settings = ["learner.algorithm=a2c", *SETTINGS[setting], "limits.env_steps=100000000",
                f"learner.checkpoints_kept={CHECKPOINTS}",
                f"learner.checkpoint_period_s={seconds / CHECKPOINTS}"]
    child = subprocess.Popen([actorq, "train", f"{TASK}?sleep_us=1000", "--gradients", "--no-http",
                              "--no-evaluator", "--actors", str(actors), "--seed", str(seed),
                              "--run", str(folder), "--parent", str(os.getpid()), "--quiet",
                              *(word for pair in settings for word in ("--set", pair))],
                             env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(seconds)
    if child.poll() is not None:
        raise SystemExit(f"{folder} did not go on for {seconds:.0f} s")
    child.send_signal(signal.SIGINT)
    child.wait()


def has_score(actorq, checkpoint):
    policy = checkpoint.with_suffix(".played.aq")
    ask(actorq, "quantize", checkpoint, policy, "--format", "int8", "--layer-formats", LAYERS,
        "--rows", "16", "--json")  # playing for rows sleeps, too
    return all(ask(actorq, "eval", policy, "--env", TASK, "--episodes", str(episodes), "--seed",
                   str(seed), "--json")["return_mean"] >= SCORE
               for episodes, seed in ((SCREEN, 1000), (EPISODES, 2000)))


def make(arguments, setting, actors, seed):
    folder = arguments.work / f"{setting}-{actors}-{seed}"
    shutil.rmtree(folder, ignore_errors=True)  # of one that did not come to its end
    train(arguments.actorq, setting, actors, seed, folder)
    checkpoints = sorted((folder / "checkpoints").glob("step-*.aqc"))
    first = next((checkpoint for checkpoint in checkpoints
                  if has_score(arguments.actorq, checkpoint)), None)
    reached, last = (ask(arguments.actorq, "inspect", at, "--json") if at else {}
                     for at in (first, checkpoints[-1]))
    shutil.rmtree(folder)
    return [setting, actors, seed, f"{reached['wall_s']:.2f}" if first else "",
            reached.get("env_steps", ""), f"{last['wall_s']:.2f}", last["env_steps"]]


def kept_runs(setting):
    """By arm and seed."""
    return {(int(row["actors"]), int(row["seed"])): row for row in rows_of(KEPT)
            if row["setting"] == setting}


def report(setting, wanted):
    runs = kept_runs(setting)
    seeds = [seed for seed in wanted if all((arm, seed) in runs for arm in ARMS)]
    if not seeds:
        return
    print(f"\n`{setting}`, {len(seeds)} seeds\n")
    print(head_of(["actors", f"came to {SCORE}", "s, median", "quartiles", "times as soon, 95 %",
                   "steps, median", "steps/s, median"], left=0))
    seconds, steps = ({key: float(row[name] or math.inf) for key, row in runs.items()}
                      for name in ("score_s", "score_steps"))
    for arm in ARMS:
        rate = statistics.median(float(runs[arm, seed]["env_steps"]) /
                                 float(runs[arm, seed]["wall_s"]) for seed in seeds)
        came = sum(math.isfinite(seconds[arm, seed]) for seed in seeds)
        print(row_of([arm, f"{came} of {len(seeds)}", *times_of(seconds, arm, seeds, ".0f"),
                      soon_of(seconds, ARMS[0], arm, seeds),
                      f"{statistics.median(steps[arm, seed] for seed in seeds):,.0f}",
                      f"{rate:,.0f}"]))


def main():
    parser = options(__doc__)
    parser.add_argument("--only", choices=sorted(SETTINGS), help="one of the settings, not all")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=len(ARMS), help="runs side by side")
    parser.add_argument("--report", action="store_true", help="only tell what there is")
    arguments = parser.parse_args()
    seeds = range(1, arguments.seeds + 1)
    settings = [name for name in SETTINGS if arguments.only in (None, name)]
    wanted = [(name, actors, seed) for name in settings for seed in seeds for actors in ARMS
              if (actors, seed) not in kept_runs(name)]
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        runs = [pool.submit(make, arguments, *which)
                for which in (wanted if not arguments.report else [])]
        for run in concurrent.futures.as_completed(runs):
            append(KEPT, COLUMNS, [run.result()])
            print(*run.result(), flush=True)
    for name in settings:
        report(name, seeds)


if __name__ == "__main__":
    main()
