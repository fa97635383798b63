#!/usr/bin/env python3
"""What is learned from a data set alone, beside the best policy of the run that made it.

    bench/offline.py [--task TASK]... [--env-steps N] [--steps N] [--seeds N] [--only NAME]...
                     --work DIR

Records each task once, with d4pg by its preset and seed 1, for N environment steps, from random
actions to what it has learned by then; exports what its replay kept as a data set; then trains each
row of ROWS from that alone for N gradient steps, a run for each seed. Prints a table in Markdown:
of the data its whole episodes and its run's best policy; of each row the mean return of the
versions of the last fifth of its steps, which nothing but the number of steps has chosen, and its
share of the best policy's; the same of the version that the evaluator chose, over fresh greedy
episodes; and seconds of processors. What DIR has already is not made again.
"""
import statistics
import subprocess

from campaign import head_of, options, row_of
from run_curves import lines
from run_once import ask, folder_of, kept_return, train

TASKS = ["dmc:cartpole_swingup", "dmc:cheetah_run"]
EPISODES = 100
VERSIONS = 20

# Name, algorithm, options besides. The first are what was made for actors that go on trying: the
# task's own preset, and td3 with the sizes of the others.
ROWS = [("d4pg, as the task's preset", "d4pg", []),
        ("td3, sized as td3_bc", "td3", ["--preset", "offline-td3_bc"]),
        ("td3_bc", "td3_bc", []), ("iql", "iql", []), ("cql", "cql", [])]


def record(actorq, task, steps, work):
    """The data set, its mean return, and that of its run's best policy."""
    row = {"task": task, "algorithm": "d4pg", "settings": [f"limits.env_steps={steps}"],
           "episodes": EPISODES}
    folder = folder_of(work, row, 1)
    data_set = folder.with_name(f"{folder.name}.aqds")
    train(actorq, row, folder, 1)
    if not data_set.exists():
        subprocess.run([actorq, "replay", "export", str(folder / "replay-0"), str(data_set),
                        "--quiet"], check=True)
    shown = ask(actorq, "replay", "inspect", data_set, "--json")
    return data_set, shown, kept_return(actorq, row, folder, 1)


def late_return(folder):
    """The mean of the last fifth of the versions, each as it was first tried."""
    tried = [(line["policy_version"], line["return_mean"]) for line in lines(folder)
             if line["event"] == "evaluation" and not line["confirmed"]]
    newest = max(version for version, _ in tried)
    return statistics.mean(value for version, value in tried if version > 0.8 * newest)


def main():
    parser = options(__doc__)
    parser.add_argument("--task", action="append")
    parser.add_argument("--env-steps", type=int, default=500_000)
    parser.add_argument("--steps", type=int, default=12_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", action="append")
    arguments = parser.parse_args()
    for task in arguments.task or TASKS:
        data_set, data, best = record(arguments.actorq, task, arguments.env_steps, arguments.work)
        print(f"{task}, {data['transitions']:,} steps, whole episodes "
              f"{data['return_mean']:.0f} ± {data['return_std']:.0f}, best policy {best:.0f}\n")
        print(head_of(["`--offline`", "last fifth", "of the best", "chosen", "of the best",
                       "processor s"]), flush=True)
        work = arguments.work / data_set.stem
        work.mkdir(exist_ok=True)
        for name, algorithm, given in ROWS:
            if arguments.only and algorithm not in arguments.only:
                continue
            row = {"task": task, "algorithm": algorithm, "episodes": EPISODES,
                   "options": ["--offline", str(data_set), *given],
                   "settings": [f"limits.learner_steps={arguments.steps}",
                                f"quantizer.publish_period={arguments.steps // VERSIONS}",
                                "learner.products=auto"]}
            last, chosen, used = [], [], []
            for seed in range(1, arguments.seeds + 1):
                folder = folder_of(work, row, seed)
                used.append(train(arguments.actorq, row, folder, seed)[1])
                last.append(late_return(folder))
                chosen.append(kept_return(arguments.actorq, row, folder, seed))
            mean, kept = statistics.mean(last), statistics.mean(chosen)
            print(row_of([name, f"{mean:.0f}", f"{100 * mean / best:.0f} %", f"{kept:.0f}",
                          f"{100 * kept / best:.0f} %", f"{statistics.mean(used):.0f}"]),
                  flush=True)
        print()


if __name__ == "__main__":
    main()
