#!/usr/bin/env python3
"""What a preset learns on tasks of the control suite, with int8 and with fp32 actors.

    bench/control_suite.py --work DIR [--preset dmc-sac] [--jobs 2] [--tasks a,b] [--seeds 3]
                           [--formats int8,fp32] [--curves DIR] [--set KEY=VALUE]...

Trains every task with every format and the seeds 1, 2, 3, ... under the preset, and prints a table;
no run is left out. A run has 500,000 frames, or, under dmc-ppo and dmc-ppo-large, 8,000,000, and
14,000,000 under dmc-ppo-long. A step is a frame, but under dmc-sac and suite-best, which take each
action twice, two. With --report nothing is trained.

A run that has ended is kept in bench/curves, or where --curves says, and is not made again: so a
campaign of days adds up, commit by commit, over machines. One that was cut off goes on from its
checkpoint in --work. Curves are in dmc-TASK.csv, or of other presets than dmc-d4pg PRESET-TASK.csv:
the mean of all greedy episodes in each fiftieth of the frames. What else is known of a run is in
suite-runs.csv; wall_s is since a run was last started, processor_s of all of it. "final" is the
mean over the last tenth of the frames, as in the published figures, of the seeds that were
evaluated there; "best" the policy that the run
kept (policy.aq), over 100 fresh episodes as it was broadcast.

What is published is in suite-published.csv: d4pg from the data published with DreamerV3, sac and
simba from those with SimBa, means of ten seeds; rpo from CleanRL's documentation.
"""
import concurrent.futures
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import threading
import typing

from campaign import CURVES, folder_at, head_of, options, row_of, words
from run_curves import binned_returns, mean_past
from run_once import ENVIRONMENT, append, rows_of

BINS = 50
RUNS = "suite-runs.csv"
RUN_COLUMNS = ["preset", "task", "format", "seed", "best", "fallback_share", "wall_s",
               "processor_s"]


class Subject(typing.NamedTuple):
    """What is trained: a preset, with `settings` for some of its own, on the tasks for which
    suite-published.csv has something in that column."""
    preset: str
    published: str
    frames: int = 500_000
    frames_of_step: int = 1
    settings: tuple = ()


LARGE_GROUPS = ("actor.count=2", "actor.envs=64", "learner.minibatches=16",
                *(f"replay.{name}=64"
                  for name in ("sequence_length", "sequence_period", "chunk_length")))
# Each as suite-best was before, until 2026-11-30, but for WARM, EVEN and WIDE, tried since: EVEN is
# white noise alone, WIDE a critic of twice the width under WHITE. SLOW is as SimBa is published.
EVEN = ("actor.noise_octaves=1",)
WARM = ("learner.temperature_min=0.003",)
WHITE = ("actor.noise_octaves=1", "learner.temperature_min=0")
WIDE = ("learner.critic_hidden=simba:256x2", *WHITE)
SLOW = ("learner.learning_rate=0.0001", "replay.samples_per_insert=512", *WHITE)
SUBJECTS = {
    "dmc-d4pg": Subject("dmc-d4pg", "d4pg", settings=("learner.products=fp32",)),
    "dmc-d4pg-bf16": Subject("dmc-d4pg", "d4pg", settings=("learner.products=bf16",)),
    "dmc-sac": Subject("dmc-sac", "sac", frames_of_step=2),
    "dmc-sac-double": Subject("dmc-sac", "sac", frames_of_step=2,
                              settings=("learner.clipped_double_q=true",)),
    "dmc-ppo": Subject("dmc-ppo", "rpo", frames=8_000_000),
    "dmc-ppo-large": Subject("dmc-ppo", "rpo", frames=8_000_000, settings=(
        *LARGE_GROUPS, "learner.group_steps=8192", "learner.learning_rate=0.0005",
        "learner.discount=0.995")),
    "dmc-ppo-long": Subject("dmc-ppo", "rpo", frames=14_000_000, settings=(
        *LARGE_GROUPS, "learner.group_steps=16384", "learner.learning_rate=0.001",
        "evaluator.share=0.02")),
    "suite-best": Subject("suite-best", "simba", frames_of_step=2),
    "suite-best-even": Subject("suite-best", "simba", frames_of_step=2, settings=EVEN),
    "suite-best-warm": Subject("suite-best", "simba", frames_of_step=2, settings=WARM),
    "suite-best-white": Subject("suite-best", "simba", frames_of_step=2, settings=WHITE),
    "suite-best-wide": Subject("suite-best", "simba", frames_of_step=2, settings=WIDE),
    "suite-best-slow": Subject("suite-best", "simba", frames_of_step=2, settings=SLOW),
    "suite-best-sac": Subject("suite-best", "simba", frames_of_step=2,
                              settings=("learner.algorithm=sac", *SLOW)),
}
# Student's t, two-sided 95 %, by degrees of freedom.
T95 = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262,
       10: 2.228, 11: 2.201, 12: 2.179, 13: 2.160, 14: 2.145, 15: 2.131, 16: 2.120, 17: 2.110,
       18: 2.101, 19: 2.093}
KEEPING = threading.Lock()


def run_name(arguments, task, form, seed):
    """Of its folder, too: a run of another preset, or of other settings, is not gone on with."""
    return "-".join([arguments.preset, task, form, str(seed),
                     *(assignment.replace("/", "_") for assignment in arguments.set)])


def begin(arguments, task, form, seed):
    subject = SUBJECTS[arguments.preset]
    repeat = subject.frames_of_step
    option = f"?action_repeat={repeat}" if repeat > 1 else ""
    return [f"dmc:{task}{option}", "--preset", subject.preset, "--seed", str(seed),
            "--set", f"limits.env_steps={subject.frames // repeat}",
            "--set", f"quantizer.format={form}", "--set", "evaluator.threshold=100000",
            "--set", "evaluator.screen_episodes=5",
            *(f"--set={assignment}" for assignment in (*subject.settings, *arguments.set))]


def published(subject):
    """{task: its return, or "-" where none was published}, of the tasks that are trained."""
    return {row["task"]: row[subject.published]
            for row in rows_of(CURVES / "suite-published.csv")
            if row[subject.published]}


def curve_file(arguments, task):
    of = "dmc" if arguments.preset == "dmc-d4pg" else arguments.preset
    return arguments.curves / f"{of}-{task}.csv"


def steps_name(arguments):
    return "env_steps" if SUBJECTS[arguments.preset].frames_of_step == 1 else "frames"


def curve(arguments, task, form, seed):
    """[(frames, mean return, episodes)] of a run that has ended; none of any other."""
    return [(int(row[steps_name(arguments)]), float(row["return_mean"]), int(row["episodes"]))
            for row in rows_of(curve_file(arguments, task))
            if (row["format"], row["seed"]) == (form, str(seed))]


def finished_seeds(arguments, task, form):
    return [seed for seed in range(1, arguments.seeds + 1) if curve(arguments, task, form, seed)]


def keep(arguments, task, form, seed, result):
    subject = SUBJECTS[arguments.preset]
    repeat = subject.frames_of_step
    steps = subject.frames // repeat
    folder = arguments.work / "runs" / run_name(arguments, task, form, seed)
    points = binned_returns(folder, steps // BINS, steps)
    with KEEPING:
        append(curve_file(arguments, task),
               ["format", "seed", steps_name(arguments), "return_mean", "episodes"],
               [[form, seed, steps * repeat, f"{value:.2f}", episodes]
                for steps, value, episodes in points])
        # Last: the curve is what says that a run was made, and no run is counted twice.
        append(arguments.curves / RUNS, RUN_COLUMNS,
               [[arguments.preset, task, form, seed, f"{result['return_mean']:.2f}",
                 f"{result['fallback_share']:.4f}", f"{result['wall_s']:.0f}",
                 f"{result['cpu_s']:.0f}"]])


def train(arguments, task, form, seed):
    """One run, in DIR/runs until it has ended."""
    name = run_name(arguments, task, form, seed)
    folder = arguments.work / "runs" / name
    if seed in finished_seeds(arguments, task, form):
        return f"{name} was made"
    goes_on = any((folder / "checkpoints").glob("*"))
    if not goes_on:
        shutil.rmtree(folder, ignore_errors=True)
    # Never "solved", so that every run goes on to the end.
    what = ["--resume"] if goes_on else begin(arguments, task, form, seed)
    done = subprocess.run(
        [arguments.actorq, "train", *what, "--run", str(folder), "--quiet", "--json", "--parent",
         str(os.getpid())], env={**ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1"},
        stdout=subprocess.PIPE, check=False)
    if done.returncode != 0 or json.loads(done.stdout)["interrupted"]:
        return f"{name}: did not come to its end"
    keep(arguments, task, form, seed, json.loads(done.stdout))
    shutil.rmtree(folder, ignore_errors=True)
    return name


def final_return(arguments, points):
    """Over the last tenth of the frames; of a run that --set made shorter, as many of its own. None
    where no evaluation came to its end there."""
    frames = SUBJECTS[arguments.preset].frames
    end = points[-1][0] if arguments.set else frames
    return mean_past(points, end - frames * 0.1)


def interval(values):
    """Half the width of the 95 % interval of the mean."""
    if len(values) < 2:
        return float("nan")
    return T95[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))


def cell(values):
    if not values:
        return "–"
    width = interval(values)
    return f"{statistics.mean(values):.0f}" + ("" if math.isnan(width) else f" ± {width:.0f}")


def report(arguments):
    head = [f"{form} {what}" for form in arguments.formats for what in ("final", "best", "seeds")]
    print(head_of(["task", "published", *head], left=2 + len(head)))
    for task in arguments.tasks:
        row = [f"`{task}`", arguments.published[task].replace("-", "–")]
        for form in arguments.formats:
            finals = [final_return(arguments, curve(arguments, task, form, seed))
                      for seed in finished_seeds(arguments, task, form)]
            best = [float(row["best"]) for row in rows_of(arguments.curves / RUNS)
                    if (row["preset"], row["task"], row["format"]) ==
                    (arguments.preset, task, form) and int(row["seed"]) <= arguments.seeds]
            told = f" ({len(best)} of {len(finals)})" if len(best) != len(finals) else ""
            row += [cell([value for value in finals if value is not None]), cell(best) + told,
                    " ".join("–" if value is None else f"{value:.0f}" for value in finals) or "–"]
        print(row_of(row))


def main():
    parser = options(__doc__)
    parser.add_argument("--preset", choices=SUBJECTS, default="dmc-d4pg")
    parser.add_argument("--tasks", type=words, help="default: all there are")
    parser.add_argument("--formats", type=words, default=["int8", "fp32"])
    parser.add_argument("--seeds", type=int, default=3, choices=range(1, len(T95) + 2), metavar="N")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="another setting than the preset's, with --curves")
    parser.add_argument("--jobs", type=int, default=1, help="runs side by side")
    parser.add_argument("--curves", type=folder_at, default=CURVES)
    parser.add_argument("--report", action="store_true", help="only tell what there is")
    arguments = parser.parse_args()
    arguments.published = published(SUBJECTS[arguments.preset])
    known = list(arguments.published)
    arguments.tasks = arguments.tasks or known
    unknown = [task for task in arguments.tasks if task not in known]
    if unknown:
        parser.error(f"no such task here: {', '.join(unknown)}; there are {', '.join(known)}")
    if arguments.set and arguments.curves == CURVES:
        parser.error("runs with --set are of another preset: name another folder with --curves")
    (arguments.work / "runs").mkdir(parents=True, exist_ok=True)
    if not arguments.report:
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            runs = [pool.submit(train, arguments, task, form, seed)
                    for seed in range(1, arguments.seeds + 1) for task in arguments.tasks
                    for form in arguments.formats]
            for run in concurrent.futures.as_completed(runs):
                print(run.result(), file=sys.stderr, flush=True)
    report(arguments)


if __name__ == "__main__":
    main()
