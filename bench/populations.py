#!/usr/bin/env python3
"""Populations beside fixed settings, at the same budget of steps (docs/sweeps.md).

    sudo bench/populations.py --work DIR [--every 2000] [--seeds 5]

Each seed of a task is two sweeps over the same space: one of method pbt, and one of method random,
whose members keep the settings that they began with. Each is done by two workers in network
namespaces of their own, which meet in the folder alone. The better of two is whose best member has
the greater return, over fresh greedy episodes. DIR keeps the sweeps: what is there is not done
again.
"""
import os
import statistics
import subprocess

from campaign import head_of, options, row_of, words
from run_once import ENVIRONMENT, ask

MEMBERS, TIMES, HOSTS = 6, 5, 2
TASKS = ["gym:CartPole-v1", "gym:Pendulum-v1"]
SPACE = """space:
  learner.learning_rate: {log: [1e-5, 1e-2]}
  learner.discount: {logit: [0.9, 0.999]}
"""


def spec(task, seed, method, every):
    rungs = f"{{every: {every}, times: {TIMES}}}" if method == "pbt" else f"[{every * TIMES}]"
    # Never "solved", so that each member takes its steps and returns are compared to the end.
    return (f"task: {task}\nmethod: {method}\ntrials: {MEMBERS}\nseed: {seed}\nrungs: {rungs}\n"
            f"seeds: {{tune: [{seed}], report: 0}}\n"
            f"settings: {{evaluator.threshold: 100000}}\n{SPACE}")


def on_a_host_of_its_own(*command):
    return subprocess.Popen(["unshare", "--net", "sh", "-c", 'ip link set lo up; exec "$@"', "sh",
                             *command], env=ENVIRONMENT)


def sweep(arguments, task, seed, method):
    folder = arguments.work / f"{task.replace(':', '-')}-{arguments.every}-{method}-{seed}"
    if not (folder / "sweep.json").exists():
        given = folder.with_suffix(".yaml")
        given.write_text(spec(task, seed, method, arguments.every))
        if not folder.exists():
            subprocess.run([arguments.actorq, "sweep", given, "--folder", folder, "--found", "-q"],
                           check=True, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
        workers = [on_a_host_of_its_own(arguments.actorq, "sweep", "work", str(folder), "--parent",
                                        str(os.getpid()), "-q")
                   for _ in range(HOSTS)]
        if any([worker.wait() != 0 for worker in workers]):
            raise SystemExit(f"{folder} has failed: see the logs in it")
    told = ask(arguments.actorq, "sweep", "status", folder, "--json", "--report")
    return max(trial["score"] for trial in told["trials"] if trial["score"] is not None)


def main():
    parser = options(__doc__)
    parser.add_argument("--every", type=int, default=2000, help="environment steps, five times")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--tasks", type=words, default=TASKS)
    arguments = parser.parse_args()
    print(head_of(["task", "population, by seed", "fixed settings, by seed", "means", "no worse"],
                  left=4))
    for task in arguments.tasks:
        best = {method: [sweep(arguments, task, seed, method)
                         for seed in range(1, arguments.seeds + 1)]
                for method in ("pbt", "random")}
        no_worse = sum(a >= b for a, b in zip(best["pbt"], best["random"]))
        by_seed = [" · ".join(f"{score:.1f}" for score in scores) for scores in best.values()]
        means = ", ".join(f"{statistics.mean(scores):.1f}" for scores in best.values())
        print(row_of([f"`{task}`", *by_seed, means, f"{no_worse} of {arguments.seeds}"]),
              flush=True)


if __name__ == "__main__":
    main()
