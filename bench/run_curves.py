"""Learning curves out of run folders, as rows for a CSV file."""
import json
import math


def lines(folder):
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


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
