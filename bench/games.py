#!/usr/bin/env python3
"""The games from their pictures: a table of algorithms, in int8 and fp32, over seeds.

    bench/games.py --work DIR [--frames N] [--seeds N] [--formats FORMAT,...]
                   [--algorithms NAME,...] [--only GAME,...] [--options OPTIONS] [--results FILE]
                   [--report]

Trains every game with every algorithm by its preset, games-NAME, for N frames, in each format, a
run for each seed; plays the policy that the run kept over fresh greedy episodes, as it was
broadcast and in fp32; and prints a table in Markdown, means and standard deviations over seeds, and
in brackets the means of the same policies and episodes in fp32, beside chance, the script and what
is published of games of the same rules, where numbers that the rules leave open may be others.

Each run becomes a line of bench/curves/games-runs.csv, or of the file that --results names, and a
run that has its line is not made again: so a campaign adds up, commit by commit, over machines.
With --report nothing is trained; the table is of what there is. Below it stands what int8 costs the
policies of each algorithm: the mean of the differences, its standard error, and the extremes.
"""
import argparse
import pathlib
import statistics

import run_curves
from campaign import CURVES, head_of, options, row_of, words
from run_once import append, ask_once, folder_of, kept_return, rows_of, train

GAMES = ["asterix", "breakout", "freeway", "seaquest", "space_invaders"]
ALGORITHMS = ["dqn", "ppo", "rainbow"]
# What gymnax tells of its PPO, in its README.
PUBLISHED = {"asterix": 15, "breakout": 28, "freeway": 58, "space_invaders": 131}
EPISODES = 1000
COLUMNS = ["options", "game", "algorithm", "format", "products", "seed", "frames", "return_mean",
           "return_fp32", "wall_s", "processor_s"]


def played_by(arguments, player, task):
    """The mean return of `random` or `scripted`."""
    kept = arguments.work / f"{player}-{''.join(c if c.isalnum() else '_' for c in task)}.json"
    return ask_once(kept, arguments.actorq, "eval", player, "--env", task, "--episodes",
                    str(EPISODES), "--seed", "9", "--json")["return_mean"]


def run_of(arguments, task, algorithm, precision):
    return {"task": task, "algorithm": algorithm, "episodes": EPISODES,
            "options": ["--preset", f"games-{algorithm}"],
            "settings": [f"limits.env_steps={arguments.frames}", f"quantizer.format={precision}",
                         "evaluator.threshold=100000"]}


def made(arguments, game, algorithm, precision):
    wanted = (arguments.options, game, algorithm, precision, str(arguments.frames))
    return [line for line in rows_of(arguments.results)
            if tuple(line[key] for key in ("options", "game", "algorithm", "format", "frames")) ==
            wanted and int(line["seed"]) <= arguments.seeds]


def products_of(folder):
    """What the learner computed in."""
    return run_curves.lines(folder)[-1]["products"]


def make(arguments, game, task, algorithm, precision):
    """The runs that have no line yet."""
    row = run_of(arguments, task, algorithm, precision)
    for seed in range(1, arguments.seeds + 1):
        if any(int(line["seed"]) == seed for line in made(arguments, game, algorithm, precision)):
            continue
        folder = folder_of(arguments.work, row, seed)
        wall, used = train(arguments.actorq, row, folder, seed)
        line = [arguments.options, game, algorithm, precision, products_of(folder), seed,
                arguments.frames, kept_return(arguments.actorq, row, folder, seed),
                kept_return(arguments.actorq, row, folder, seed,
                            None if precision == "fp32" else "fp32"),
                f"{wall:.1f}", f"{used:.1f}"]
        append(arguments.results, COLUMNS, [line])


def cell(lines, precision):
    if not lines:
        return "not run"
    returns = [float(line["return_mean"]) for line in lines]
    text = f"{statistics.mean(returns):.3g}"
    text += f" ± {statistics.stdev(returns):.2g}" if len(returns) > 1 else ""
    in_fp32 = f" ({statistics.mean(float(line['return_fp32']) for line in lines):.3g})"
    return text if precision == "fp32" else text + in_fp32


def what_int8_costs(lines):
    """Return of policies in int8 beside that of the same weights in fp32, in percent."""
    pairs = [(float(line["return_mean"]), float(line["return_fp32"])) for line in lines]
    costs = [100 * (ours / fp32 - 1) for ours, fp32 in pairs if fp32 != 0]
    if len(costs) < 2:
        return f"{len(costs)} policies: too few"
    error = statistics.stdev(costs) / len(costs) ** 0.5
    without = f", without {len(pairs) - len(costs)} of no return" if len(costs) < len(pairs) else ""
    return (f"{len(costs)} policies{without}, {statistics.mean(costs):+.2f} ± {error:.2f} %, from "
            f"{min(costs):+.1f} to {max(costs):+.1f} %")


def listed(choices):
    def read(text):
        if not set(words(text)) <= set(choices):
            raise argparse.ArgumentTypeError(f"of {', '.join(choices)}")
        return words(text)
    return read


def main():
    parser = options(__doc__)
    parser.add_argument("--frames", type=int, default=5_000_000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--formats", type=words, default=["int8", "fp32"])
    parser.add_argument("--algorithms", type=listed(ALGORITHMS), default=ALGORITHMS)
    parser.add_argument("--only", type=listed(GAMES), default=GAMES)
    parser.add_argument("--options", default="sticky=0.1", help="of the games; empty: none")
    parser.add_argument("--results", type=pathlib.Path,
                        default=CURVES / "games-runs.csv")
    parser.add_argument("--report", action="store_true", help="train nothing")
    arguments = parser.parse_args()
    columns = [(a, f) for a in arguments.algorithms for f in arguments.formats]
    print(head_of(["game", "chance", "script", *(f"{a}, {f}" for a, f in columns),
                   "published, PPO"]), flush=True)
    for game in arguments.only:
        task = f"game:{game}" + (f"?{arguments.options}" if arguments.options else "")
        if not arguments.report:
            for column in columns:
                make(arguments, game, task, *column)
        others = [f"{played_by(arguments, player, task):.3g}" for player in ("random", "scripted")]
        cells = [cell(made(arguments, game, *column), column[1]) for column in columns]
        print(row_of([f"`{game}`", *others, *cells, PUBLISHED.get(game, "")]), flush=True)
    for algorithm in arguments.algorithms if "int8" in arguments.formats else []:
        lines = [line for game in arguments.only
                 for line in made(arguments, game, algorithm, "int8")]
        if len(lines) > 1:
            print(f"int8 beside fp32, {algorithm}: {what_int8_costs(lines)}")


if __name__ == "__main__":
    main()
