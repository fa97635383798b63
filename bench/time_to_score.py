#!/usr/bin/env python3
"""How soon the paper's set-up has a policy, with int8 and with fp32 actors.

    bench/time_to_score.py --work DIR [--seeds N] [--only TEXT] [--kept FILE] [--report]

Trains each task of ROWS from the seeds 1, 2, 3, ... with each format, one run at a time and all to
their end, with a checkpoint every five seconds. What every checkpoint held is then played in the
format of its run over ten greedy episodes, the same for all, so that looking costs no run anything.
Neighbouring versions return this and that, so a run has the score when the mean over all
checkpoints of its last 10,000 environment steps reaches it. Times are the learner's, from its
start. A run of which nothing was played in its first 10,000 steps says nothing of when, so the
report names it and leaves it out.

A run that was played is kept in FILE, or in bench/curves/paper-time.csv, and is not made again;
with --report nothing is trained. Times of one machine say nothing beside another's: give each a
file of its own.
"""
import concurrent.futures
import pathlib
import shutil
import statistics

from campaign import CURVES, head_of, options, row_of
from run_once import append, ask, folder_of, rows_of, train

COLUMNS = ["task", "format", "seed", "wall_s", "env_steps", "learner_steps", "return_mean",
           "episodes"]
EPISODES = 10
WINDOW_STEPS = 10_000
EPISODES_SEED = 1000
FORMATS = ["int8", "fp32"]
# Never "solved", so that every run goes on to the end.
SETTINGS = ["limits.env_steps=60000", "learner.checkpoint_period_s=5",
            "learner.checkpoints_kept=100", "evaluator.threshold=100000"]
# The last score is that of bench/modes.py; layers: those that a run sends in another format.
ROWS = [
    {"task": "gym:CartPole-v1", "algorithm": "dqn", "scores": [*range(200, 451, 50), 475],
     "layers": ""},
    {"task": "dmc:cartpole_balance", "algorithm": "d4pg", "scores": range(500, 901, 100),
     "layers": "0:bf16"},
]


def play(actorq, row, form, checkpoint):
    """What it held, as it would have gone out, and when that was; None before a first version."""
    held = ask(actorq, "inspect", checkpoint, "--json")
    if held["best_policy"] is None:
        return None
    policy = checkpoint
    if form != "fp32":
        policy = checkpoint.with_suffix(".played.aq")
        layers = ["--layer-formats", row["layers"]] if row["layers"] else []
        ask(actorq, "quantize", checkpoint, policy, "--format", form, *layers, "--rows", "16",
            "--json")
    played = ask(actorq, "eval", policy, "--episodes", str(EPISODES), "--seed", str(EPISODES_SEED),
                 "--json")
    return [f"{held['wall_s']:.2f}", held["env_steps"], held["learner_step"],
            f"{played['return_mean']:.2f}", EPISODES]


def kept_rows(kept_in, row, form, seed):
    return [kept for kept in rows_of(kept_in)
            if (kept["task"], kept["format"], kept["seed"]) == (row["task"], form, str(seed))]


def make(arguments, row, form, seed):
    run = {**row, "options": ["--preset", f"paper-{row['algorithm']}"],
           "settings": [*SETTINGS, f"quantizer.format={form}"]}
    folder = folder_of(arguments.work, run, seed)
    train(arguments.actorq, run, folder, seed)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        points = list(pool.map(lambda checkpoint: play(arguments.actorq, row, form, checkpoint),
                               sorted((folder / "checkpoints").glob("step-*.aqc"))))
    append(arguments.kept, COLUMNS,
           [[row["task"], form, seed, *point] for point in points if point])
    shutil.rmtree(folder)  # some 5 GB of checkpoints


def window_mean(points, last):
    begin = int(last["env_steps"]) - WINDOW_STEPS
    return statistics.mean(float(point["return_mean"]) for point in points
                           if begin < int(point["env_steps"]) <= int(last["env_steps"]))


def reached(points, score):
    """The first checkpoint by which a run has the score, or None."""
    return next((point for point in points if int(point["env_steps"]) >= WINDOW_STEPS
                 and window_mean(points, point) >= score), None)


def runs_of(kept_in, row, form, seeds):
    """The points of each run that was looked at from its beginning."""
    runs = []
    for seed in range(1, seeds + 1):
        points = kept_rows(kept_in, row, form, seed)
        if points and int(points[0]["env_steps"]) > WINDOW_STEPS:
            print(f"{form}, seed {seed} is left out: nothing was played before step"
                  f" {points[0]['env_steps']}\n")
        elif points:
            runs.append(points)
    return runs


def mean_of(points, name):
    """None where a run did not come so far: a mean over the others would flatter."""
    all_came = points and None not in points
    return statistics.mean(float(point[name]) for point in points) if all_came else None


def cells(firsts):
    seconds, steps = mean_of(firsts, "wall_s"), mean_of(firsts, "env_steps")
    by_seed = " ".join(f"{float(first['wall_s']):.0f}" if first else "never" for first in firsts)
    return [by_seed, f"{seconds:.0f}" if seconds else "", f"{steps:,.0f}" if steps else ""]


def report(kept_in, rows, seeds):
    for row in rows:
        print(f"\n`{row['task']}`\n")
        runs = {form: runs_of(kept_in, row, form, seeds) for form in FORMATS}
        for form, all_points in runs.items():
            lasts = [points[-1] for points in all_points]
            pace = [float(last["env_steps"]) / float(last["wall_s"]) for last in lasts]
            ends = [window_mean(points, points[-1]) for points in all_points]
            print(f"{form}: {' '.join(f'{value:.0f}' for value in pace)} steps/s, return at the"
                  f" end {' '.join(f'{value:.0f}' for value in ends)}")
        print("\n" + head_of(["score", *(name for form in FORMATS for name in (
            f"{form}, s by seed", "mean", "steps, mean")), "sooner"], left=0))
        for score in row["scores"]:
            firsts = {form: [reached(points, score) for points in runs[form]] for form in FORMATS}
            int8, fp32 = (mean_of(firsts[form], "wall_s") for form in FORMATS)
            print(row_of([score, *(cell for form in FORMATS for cell in cells(firsts[form])),
                          f"{fp32 / int8:.2f} ×" if int8 and fp32 else ""]))


def main():
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="TEXT", help="tasks with this in their name")
    parser.add_argument("--kept", type=pathlib.Path, metavar="FILE",
                        default=CURVES / "paper-time.csv",
                        help="where runs that were played are kept (default: %(default)s)")
    parser.add_argument("--report", action="store_true", help="only tell what there is")
    arguments = parser.parse_args()
    rows = [row for row in ROWS if arguments.only in row["task"]]
    for row in rows if not arguments.report else []:
        for seed in range(1, arguments.seeds + 1):
            # Formats take turns to begin.
            for form in FORMATS if seed % 2 == 1 else FORMATS[::-1]:
                if not kept_rows(arguments.kept, row, form, seed):
                    make(arguments, row, form, seed)
                    print(f"{row['task']}, {form}, seed {seed}", flush=True)
    report(arguments.kept, rows, arguments.seeds)


if __name__ == "__main__":
    main()
