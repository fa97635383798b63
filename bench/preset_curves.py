#!/usr/bin/env python3
"""Curves of the presets, on the tasks that they are for.

    bench/preset_curves.py GROUP --work DIR [--seeds N]

GROUP is algorithms or families, which are compared on the task where one would try them first,
tasks that a preset of their own or the plain defaults solve, or games.
Trains each with the seeds 1, 2, 3, ..., writes bench/curves/GROUP.csv, and draws
docs/figures/GROUP-*.svg with `actorq plot`. Runs that DIR has already are not made again.
"""
import subprocess

from campaign import CURVES, ROOT, options
from run_curves import write_curves
from run_once import train

# Never "solved", so that every run is as long; measured as often as an evaluator can.
ALL_OF_IT = ["--set", "evaluator.threshold=100000", "--set", "evaluator.share=1"]
# Figure, environment steps, steps of a bin, line across, what all runs are given, and the arguments
# of each. The lines are thresholds; Taxi's is the best policy's mean, and those of the games are
# the scripts' means: `actorq eval scripted --env TASK`.
DENSE = ["--set", "learner.torso=", "--set", "learner.hidden=256"]


def game_arms(name):
    """The preset, which has convolutions, and dense layers in their place."""
    return {name: [f"game:{name}"], f"{name}-dense": [f"game:{name}", *DENSE]}


GROUPS = {
    "algorithms": {
        "choices": (60_000, 2_000, 475, ALL_OF_IT, {
            "dqn": ["gym:CartPole-v1"],
            "c51": ["gym:CartPole-v1", "--preset", "cartpole-c51"],
        }),
        "continuous": (20_000, 1_000, -200, ALL_OF_IT, {
            "d4pg": ["gym:Pendulum-v1", "--preset", "pendulum-d4pg"],
            "ddpg": ["gym:Pendulum-v1", "--preset", "pendulum-ddpg"],
            "td3": ["gym:Pendulum-v1", "--preset", "pendulum-td3"],
        }),
    },
    "families": {
        "cartpole": (150_000, 5_000, 475, ALL_OF_IT, {
            f"cartpole-{algorithm}": ["gym:CartPole-v1", "--set", f"learner.algorithm={algorithm}"]
            for algorithm in ["reinforce", "a2c", "ppo", "trpo", "impala"]}),
        "acrobot": (300_000, 10_000, -85, ALL_OF_IT, {
            "acrobot-ppo": ["gym:Acrobot-v1", "--set", "learner.algorithm=ppo"]}),
        "mountaincar": (100_000, 5_000, -110, ALL_OF_IT, {
            "mountaincar-trpo": ["gym:MountainCar-v0", "--set", "learner.algorithm=trpo"]}),
        "pendulum": (100_000, 2_000, -180, ALL_OF_IT, {
            f"pendulum-{algorithm}": ["gym:Pendulum-v1", "--set", f"learner.algorithm={algorithm}"]
            for algorithm in ["ppo", "sac"]}),
        "taxi": (100_000, 2_000, 7.93, ALL_OF_IT, {
            f"taxi-{algorithm}": ["gym:Taxi-v3", "--set", f"learner.algorithm={algorithm}"]
            for algorithm in ["q", "sarsa", "expected_sarsa"]}),
    },
    "tasks": {
        "mountaincar": (150_000, 5_000, -110, ALL_OF_IT, {"mountaincar": ["gym:MountainCar-v0"]}),
        "mountaincar-continuous": (250_000, 10_000, 90, ALL_OF_IT, {
            "mountaincar-continuous": ["gym:MountainCarContinuous-v0"]}),
        "acrobot": (100_000, 5_000, -100, ALL_OF_IT, {"acrobot": ["gym:Acrobot-v1"]}),
        "taxi": (300_000, 10_000, 7.93, ALL_OF_IT, {"taxi": ["gym:Taxi-v3?one_hot=yes"]}),
    },
    "games": {
        name: (3_000_000, 100_000, script, [], game_arms(name)) for name, script in [
            ("asterix", 227), ("breakout", 23.2), ("freeway", 26.3), ("miner", 28.6),
            ("seaquest", 4.22), ("space_invaders", 56.1)]
    },
}


def main():
    parser = options(__doc__)
    parser.add_argument("group", choices=GROUPS)
    parser.add_argument("--seeds", type=int, default=5)
    arguments = parser.parse_args()
    apart = "learner.torso" if arguments.group == "games" else "learner.algorithm"
    curves = []
    for figure, (steps, bin_steps, level, settings, runs) in GROUPS[arguments.group].items():
        folders = []
        for name, words in runs.items():
            for seed in range(1, arguments.seeds + 1):
                folder = arguments.work / f"{name}-{seed}"
                train(arguments.actorq,
                      {"task": words[0], "options": [*words[1:], *settings],
                       "settings": [f"limits.env_steps={steps}"]}, folder, seed)
                folders.append(str(folder))
                curves.append((name, seed, folder, bin_steps, steps))
        picture = ROOT / "docs" / "figures" / f"{arguments.group}-{figure}.svg"
        subprocess.run([arguments.actorq, "plot", *folders, "--group-by", apart,
                        "--level", str(level), "--output", str(picture)], check=True)
    write_curves(CURVES / f"{arguments.group}.csv", curves)


if __name__ == "__main__":
    main()
