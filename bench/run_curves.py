"""Learning curves out of run folders, as rows for a CSV file."""
import csv
import json
import math

# Lines of one moment may have read the clock in turn; who went back to a checkpoint lost more.
ONE_MOMENT_S = 0.5


def lines(folder):
    """Of metrics.jsonl, but those that a resumed run went back from, as in python/actorq/runs.py:
    its time has gone back then, its environment steps not where shards kept them."""
    kept = []
    for text in (folder / "metrics.jsonl").read_text().splitlines():
        line = json.loads(text)
        went_back = kept and kept[-1]["wall_s"] - line["wall_s"] > ONE_MOMENT_S
        while kept and (kept[-1]["env_steps"] > line["env_steps"] or
                        (went_back and kept[-1]["wall_s"] > line["wall_s"])):
            kept.pop()
        kept.append(line)
    return kept


def binned_returns(folder, bin_steps, last_steps):
    """[(environment steps at the end of the bin, mean return, episodes)], from metrics.jsonl.

    All greedy episodes of a bin count alike; what was measured past `last_steps` is of the last.
    Those that only rank the best version, over and over, are of no step.
    """
    bins = {}
    for row in lines(folder):
        if row["event"] == "evaluation" and not row.get("ranks_only"):
            at = min(math.ceil(row["env_steps"] / bin_steps), last_steps // bin_steps)
            total, episodes = bins.get(at, (0.0, 0))
            bins[at] = (total + row["return_mean"] * row["episodes"], episodes + row["episodes"])
    return [(at * bin_steps, total / episodes, episodes)
            for at, (total, episodes) in sorted(bins.items())]


def mean_past(points, begin):
    """Of all episodes of the bins that end past that step; None of none."""
    past = [(value, episodes) for at, value, episodes in points if at > begin]
    total = sum(value * episodes for value, episodes in past)
    return total / sum(episodes for _, episodes in past) if past else None


def write_curves(path, runs):
    """A CSV file, of (curve, seed, folder, bin_steps, last_steps) of each; what was there is kept
    until all is."""
    rows = [[curve, seed, steps, f"{value:.2f}", episodes] for curve, seed, *run in runs
            for steps, value, episodes in binned_returns(*run)]
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(["curve", "seed", "env_steps", "return_mean", "episodes"])
        table.writerows(rows)
