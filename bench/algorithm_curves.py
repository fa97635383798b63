#!/usr/bin/env python3
"""A curve for each algorithm, on the task where one would try it first.

    bench/algorithm_curves.py --work DIR [--seeds 5]

Trains each for a fixed number of environment steps with the seeds 1, 2, 3, ..., writes
bench/curves/algorithms.csv, and draws docs/figures/algorithms-*.svg with `actorq plot`.
"""
import argparse
import csv
import os
import pathlib
import subprocess

from run_curves import binned_returns

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# Figure, environment steps, steps of a bin, line across, and the arguments of each algorithm.
FIGURES = {
    "choices": (60_000, 2_000, 475, {
        "dqn": ["gym:CartPole-v1"],
        "c51": ["gym:CartPole-v1", "--preset", "cartpole-c51"],
    }),
    "continuous": (20_000, 1_000, -200, {
        "d4pg": ["gym:Pendulum-v1", "--preset", "pendulum-d4pg"],
        "ddpg": ["gym:Pendulum-v1", "--preset", "pendulum-ddpg"],
        "td3": ["gym:Pendulum-v1", "--preset", "pendulum-td3"],
    }),
}


def train(arguments, folder, steps, options, seed):
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}
    # Never "solved", so that every run is as long; measured as often as an evaluator can.
    subprocess.run(
        [arguments.actorq, "train", *options, "--seed", str(seed), "--run", str(folder), "--quiet",
         "--set", f"limits.env_steps={steps}", "--set", "evaluator.threshold=100000",
         "--set", "evaluator.share=1"], env=environment, check=True, stdout=subprocess.DEVNULL)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="where the runs go")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--actorq", default=str(ROOT / "build" / "cli" / "actorq"))
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    with (HERE / "curves" / "algorithms.csv").open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["algorithm", "seed", "env_steps", "return_mean", "episodes"])
        for figure, (steps, bin_steps, level, algorithms) in FIGURES.items():
            folders = []
            for name, options in algorithms.items():
                for seed in range(1, arguments.seeds + 1):
                    folder = arguments.work / f"{name}-{seed}"
                    train(arguments, folder, steps, options, seed)
                    folders.append(str(folder))
                    for row in binned_returns(folder, bin_steps, steps):
                        table.writerow([name, seed, row[0], f"{row[1]:.2f}", row[2]])
            picture = ROOT / "docs" / "figures" / f"algorithms-{figure}.svg"
            picture.parent.mkdir(exist_ok=True)
            subprocess.run([arguments.actorq, "plot", *folders, "--group-by", "learner.algorithm",
                            "--level", str(level), "--output", str(picture)], check=True)


if __name__ == "__main__":
    main()
