#!/usr/bin/env python3
"""What each family of algorithms reaches: a table of tasks, by medians over seeds.

    bench/families.py --rows GROUP [--seeds N] [--first-seed S] [--only TEXT] --work DIR

Trains each row of GROUP with N seeds from S on, plays the policy that the run kept, as it was
broadcast, over fresh greedy episodes of another seed, and prints a table in Markdown: median, least
and greatest mean return, how many seeds came to the target, and medians of seconds: by the wall,
from the start of `actorq train` to its end, and of processors, all processes together. Runs that
DIR has already are not made again.

The rows of int8, gradients, products and correction have arms, of which arms.py prints a table:
means with 95 % intervals, of that and of all greedy episodes in the last fifth of the steps; and
the difference of these last from those of the last arm.
"""
import statistics

from arms import CORRECTIONS, FORMATS, GRADIENTS, HEAD, PRODUCTS, compare
from campaign import head_of, options, row_of
from control_suite import T95
from run_once import command, measure

# Task, algorithm, settings besides, episodes that judge, target. Of the tables only q's targets are
# of the best policy; sarsa and expected_sarsa keep away from the cliff, in 17 steps or 15.
TASKS = [("gym:FrozenLake-v1", 10_000, 0.73), ("gym:FrozenLake8x8-v1", 10_000, 0.89),
         ("gym:CliffWalking-v1", 100, -13), ("gym:Taxi-v3", 10_000, 7.85),
         ("gym:Blackjack-v1", 100_000, -0.05)]
FAST = ["learner.learning_rate=0.002", "learner.learning_rate_end=1"]
PLAIN_REWARDS = ["learner.normalize_rewards=false"]
# Every layer: by default the first is bf16 and the last fp32.
FEW_BITS = ["quantizer.format=int2", "quantizer.layer_formats=0:int2,-1:int2",
            "quantizer.error_budget=1"]
ROWS = {
    "tabular": [{"task": task, "algorithm": algorithm, "settings": [], "episodes": episodes,
                 "target": -17 if target == -13 and algorithm != "q" else target}
                for algorithm in ["q", "sarsa", "expected_sarsa"]
                for task, episodes, target in TASKS],
    # The same tasks by what has networks: thresholds, or what is near to the best. What learns by
    # returns of its own drawn actions keeps away from the cliff, too.
    "counted": [{"task": task, "algorithm": algorithm, "settings": [], "episodes": episodes,
                 "target": -17 if target == -13 and algorithm not in ("qr_dqn", "sac") else target}
                for algorithm in ["ppo", "a2c", "impala", "reinforce", "trpo", "pqn", "qr_dqn",
                                  "sac"]
                for (task, episodes, _), target in zip(TASKS, [0.7, 0.85, -13, 7.5, -0.06])],
    "on-policy": [{"task": task, "algorithm": algorithm, "settings": settings, "episodes": 100,
                   "target": target} for task, algorithm, settings, target in [
                       ("gym:CartPole-v1", "ppo", [], 475), ("gym:CartPole-v1", "trpo", [], 475),
                       ("gym:CartPole-v1", "reinforce", [], 475),
                       ("gym:CartPole-v1", "a2c", [], 475), ("gym:CartPole-v1", "impala", [], 475),
                       ("gym:Acrobot-v1", "ppo", [], -85), ("gym:MountainCar-v0", "trpo", [], -110),
                       ("gym:Pendulum-v1", "ppo", [], -180),
                       ("gym:Pendulum-v1", "ppo", ["evaluator.threshold=-200"], -200)]],
    # Velocities are not seen: with a memory, and without one.
    "memory": [{"task": f"{task}?mask=velocity", "algorithm": algorithm, "settings": settings,
                "episodes": 100, "target": target}
               for task, algorithm, target in [("gym:CartPole-v1", "ppo", 475),
                                               ("gym:Pendulum-v1", "ppo", -250),
                                               ("gym:CartPole-v1", "r2d2", 475)]
               for settings in [[], ["learner.torso="]]],
    "lander": [{"task": task, "algorithm": algorithm, "settings": [], "episodes": 100,
                "target": 200} for task, algorithm in [
                    ("gym:LunarLander-v3", "ppo"), ("gym:LunarLander-v3", "dqn"),
                    ("gym:LunarLanderContinuous-v3", "ppo")]],
    "soft": [{"task": task, "algorithm": "sac", "settings": settings, "episodes": 100,
              "target": target} for task, settings, target in [
                  ("gym:MountainCarContinuous-v0",
                   ["limits.env_steps=50000", "evaluator.threshold=99"], 93),
                  ("gym:Pendulum-v1",
                   ["limits.env_steps=20000", "evaluator.threshold=-100"], -160)]],
    "values": [{"task": task, "algorithm": algorithm, "settings": settings, "episodes": 100,
                "target": target} for task, algorithm, settings, target in [
                    ("gym:Acrobot-v1", "qr_dqn", [], -75),
                    ("gym:MountainCar-v0", "dqn", [], -105),
                    ("gym:CartPole-v1", "pqn", [], 475),
                    ("gym:Acrobot-v1", "pqn",
                     ["limits.env_steps=500000", "evaluator.threshold=-70",
                      "learner.normalize_obs=true"], -90)]],
    "int8": [{"task": task, "algorithm": algorithm, "settings": settings, "episodes": 100,
              "arms": FORMATS} for algorithm, task, settings in [
                  ("ppo", "gym:CartPole-v1", []), ("ppo", "gym:Pendulum-v1", []),
                  ("sac", "gym:Pendulum-v1", ["limits.env_steps=20000"]),
                  ("impala", "gym:CartPole-v1", ["limits.env_steps=200000"]),
                  ("ppo", "gym:Acrobot-v1", []),
                  ("impala", "gym:Acrobot-v1", ["limits.env_steps=200000"]),
                  ("sac", "gym:MountainCarContinuous-v0", ["limits.env_steps=50000"]),
                  ("ppo", "dmc:cartpole_balance", []),
                  ("sac", "gym:CartPole-v1", ["limits.env_steps=100000"]),
                  ("sac", "gym:Acrobot-v1", ["limits.env_steps=200000"]),
                  ("impala", "dmc:cartpole_balance", []), ("impala", "game:breakout", [])]],
    "gradients": [{"task": task, "algorithm": algorithm, "learners": 2, "episodes": 100,
                    "settings": [f"limits.env_steps={steps}"], "arms": GRADIENTS}
                   for task, algorithm, steps in [("gym:CartPole-v1", "dqn", 100_000),
                                                  ("dmc:cartpole_balance", "d4pg", 40_000),
                                                  ("dmc:walker_stand", "d4pg", 40_000)]],
    "products": [{"task": task, "algorithm": algorithm, "episodes": 100, "arms": PRODUCTS,
                  "settings": [f"limits.env_steps={steps}"]} for algorithm, task, steps in [
                      ("dqn", "gym:CartPole-v1", 50_000), ("ppo", "gym:CartPole-v1", 100_000),
                      ("sac", "gym:Pendulum-v1", 15_000), ("td3", "gym:Pendulum-v1", 15_000),
                      ("d4pg", "gym:Pendulum-v1", 20_000)]],
    # Actors that are far from the learner, and the same where they are not. a2c with rewards as
    # they are: normalized, as by its preset, they make steps that quantizing harms less.
    "correction": [{"task": "gym:CartPole-v1", "algorithm": algorithm, "settings": settings,
                    "episodes": 100, "arms": CORRECTIONS, "plot": "learner.correction",
                    **({"figure": f"correction-{figure}"} if figure else {})}
                   for figure, algorithm, settings in [
                       ("lag", "ppo", ["learner.lag_max=8", "learner.prefetch=8", *FAST]),
                       (None, "ppo", FAST),
                       ("bits-a2c", "a2c", [*FEW_BITS, *PLAIN_REWARDS]),
                       (None, "a2c", PLAIN_REWARDS),
                       ("bits-ppo", "ppo", FEW_BITS)]],
}


def main():
    parser = options(__doc__)
    parser.add_argument("--rows", choices=ROWS, required=True)
    parser.add_argument("--seeds", type=int, default=10, choices=range(1, len(T95) + 2),
                        metavar="N")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--only", default="", help="rows whose command has this text in it")
    arguments = parser.parse_args()
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.seeds)
    rows = [row for row in ROWS[arguments.rows] if arguments.only in " ".join(command(row))]
    if not rows:
        parser.error(f"no row of {arguments.rows} has '{arguments.only}' in its command")
    if "arms" in rows[0]:
        print(HEAD)
        for row in rows:
            for line in compare(arguments.actorq, row, arguments.work, seeds):
                print(line, flush=True)
        return
    print(head_of(["`actorq …`", "episodes", "median", "least to most", "target", "reached",
                   "wall s", "processor s"]))
    for row in rows:
        returns, wall_s, used_s = measure(arguments, row, seeds)
        reached = sum(value >= row["target"] for value in returns)
        print(row_of([f"`{' '.join(command(row))}`", f"{row['episodes']:,}",
                      f"{statistics.median(returns):.4g}",
                      f"{min(returns):.4g} to {max(returns):.4g}", row["target"],
                      f"{reached} of {len(seeds)}", f"{statistics.median(wall_s):.2f}",
                      f"{statistics.median(used_s):.2f}"]), flush=True)


if __name__ == "__main__":
    main()
