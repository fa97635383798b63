"""Arms of one training beside each other: formats that actors act in or that the learner computes
in, formats of gradients between ranks, or corrections for what actors drew otherwise than the
learner would have."""
import statistics
import subprocess

from campaign import CURVES, ROOT, head_of, row_of
from control_suite import interval
from run_curves import binned_returns, lines, mean_past, write_curves
from run_once import command, folder_of, kept_return, train

BINS = 20
# No run ends as solved, so that all are as long.
TO_THE_END = ["evaluator.threshold=100000"]
# Every version goes out in its format, whatever that costs.
FORMATS = {"int8": ["quantizer.error_budget=1"], "fp32": ["quantizer.format=fp32"]}
GRADIENTS = {name: [f"learner.gradient_format={name}"] for name in ["int8", "fp32"]}
CORRECTIONS = {name: [f"learner.correction={name}"]
               for name in ["clipped", "bypass", "vtrace", "none"]}
PRODUCTS = {name: [f"learner.products={name}"] for name in ["bf16", "fp32"]}
FIGURES = ["actor_k3", "effective_share", "weights_clipped"]


def last_fifth(folder):
    """Of the steps: the mean of all greedy episodes there, or of none the last before."""
    width, steps = bin_steps(folder)
    points = binned_returns(folder, width, steps)
    value = mean_past(points, 0.8 * steps)
    return points[-1][1] if value is None else value


def bin_steps(folder):
    steps = max(row.get("env_steps", 0) for row in lines(folder))
    return max(steps // BINS, 1), steps


def told(folders, name):
    """The median of the seconds of all runs; None where nothing is told."""
    values = [line[name] for folder in folders for line in lines(folder)
              if line["event"] == "progress" and line.get(name) is not None]
    return statistics.median(values) if values else None


def cell(values):
    width = f" ± {interval(values):.3g}" if len(values) > 1 else ""
    return f"{statistics.mean(values):.4g}{width}"


def beside(values, others):
    """The difference of the means as a share of the other one, and whether the intervals meet."""
    mean, other = statistics.mean(values), statistics.mean(others)
    difference = f"{100 * (mean - other) / abs(other):+.1f} %"
    if len(values) < 2:
        return difference
    meet = abs(mean - other) <= interval(values) + interval(others)
    return f"{difference}, {'overlap' if meet else 'apart'}"


def draw(actorq, row, seeds, arms):
    """Curves as rows of a file and as a picture."""
    write_curves(CURVES / f"{row['figure']}.csv", [(name, seed, folder, *bin_steps(folder))
                                                   for name, folders in arms.items()
                                                   for seed, folder in zip(seeds, folders)])
    subprocess.run([actorq, "plot", *[str(folder) for made in arms.values() for folder in made],
                    "--group-by", row["plot"], "--smooth", "3", "--output",
                    str(ROOT / "docs" / "figures" / f"{row['figure']}.svg")], check=True)


def compare(actorq, row, work, seeds):
    """Lines of the table: an arm each, beside the last one."""
    folders, kept, late = {}, {}, {}
    for seed in seeds:
        for name, settings in row["arms"].items():
            arm = {**row, "settings": [*row["settings"], *TO_THE_END, *settings]}
            folder = folder_of(work, arm, seed)
            train(actorq, arm, folder, seed)
            folders.setdefault(name, []).append(folder)
            kept.setdefault(name, []).append(kept_return(actorq, arm, folder, seed))
            late.setdefault(name, []).append(last_fifth(folder))
    if "figure" in row:
        draw(actorq, row, seeds, folders)
    of = f"`{' '.join(command(row))}`"
    other = list(row["arms"])[-1]
    for name in row["arms"]:
        figures = [told(folders[name], figure) for figure in FIGURES]
        yield row_of([of, name, f"{statistics.median(kept[name]):.4g}", cell(kept[name]),
                      cell(late[name]), "–" if name == other else beside(late[name], late[other]),
                      *["–" if value is None else f"{value:.2g}" for value in figures]])
        of = ""


HEAD = head_of(["`actorq …`", "arm", "kept: median", "kept: mean", "last fifth: mean",
                "beside the last arm", *(f"`{name}`" for name in FIGURES)], left=2)
