#!/usr/bin/env python3
"""What each algorithm reaches on the small tasks when it is asked for by its name and nothing else.

    bench/by_name.py [--seeds N] [--first-seed S] [--algorithms A,B] [--tasks T,U] --work DIR

Trains each task by each algorithm that its actions allow, `actorq train TASK --set
learner.algorithm=NAME`, with N seeds from S on. Plays the policy that the run kept, as it was
broadcast, over 100 fresh greedy episodes of another seed. Prints a table in Markdown: the median of
the seeds' mean returns, in bold where it comes to what counts as learned, and the median of the
processors' seconds, all processes together. Runs that DIR has already are not made again.
"""
import statistics

from campaign import options, row_of, words
from run_once import measure

BOTH = ["sac", "ppo", "a2c", "reinforce", "trpo", "impala"]
CHOICES = ["dqn", "qr_dqn", "c51", "rainbow", "r2d2", "pqn", *BOTH]
NUMBERS = ["d4pg", "ddpg", "td3", "dsac", *BOTH]
# Who may learn it, and the return that counts as learned.
TASKS = {"gym:CartPole-v1": (CHOICES, 475), "gym:Acrobot-v1": (CHOICES, -100),
         "gym:MountainCar-v0": (CHOICES, -110), "gym:LunarLander-v3": (CHOICES, 200),
         "gym:Pendulum-v1": (NUMBERS, -200), "gym:MountainCarContinuous-v0": (NUMBERS, 90),
         "gym:LunarLanderContinuous-v3": (NUMBERS, 200)}


def cell(arguments, task, algorithm):
    allowed, learned = TASKS[task]
    if algorithm not in allowed:
        return "–"
    row = {"task": task, "algorithm": algorithm, "settings": [], "episodes": 100}
    returns, _, used = measure(arguments, row, range(
        arguments.first_seed, arguments.first_seed + arguments.seeds))
    median = statistics.median(returns)
    mark = "**" if median >= learned else ""
    return f"{mark}{median:.4g}{mark} ({statistics.median(used):.0f} s)"


def main():
    parser = options(__doc__)
    every = list(dict.fromkeys(NUMBERS + CHOICES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--algorithms", type=words, default=every)
    parser.add_argument("--tasks", type=words, default=list(TASKS))
    arguments = parser.parse_args()
    tasks, algorithms = arguments.tasks, arguments.algorithms
    for unknown in {*tasks, *algorithms} - {*TASKS, *every}:
        parser.error(f"'{unknown}' is none of {', '.join([*TASKS, *every])}")
    print("| | " + " | ".join(f"`{task}`" for task in tasks) + " |")
    print("|---|" + "--:|" * len(tasks))
    for algorithm in algorithms:
        print(row_of([f"`{algorithm}`", *(cell(arguments, task, algorithm) for task in tasks)]),
              flush=True)


if __name__ == "__main__":
    main()
