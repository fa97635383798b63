"""How many times as soon one arm of runs has something as another, by medians over the seeds."""
import math
import random
import statistics

DRAWS = 10_000


def sooner(seconds, first, other, seeds):
    """`seconds` by arm and seed, infinite where a run never has it; never beside never: nan."""
    ours, its = (statistics.median(seconds[arm, seed] for seed in seeds) for arm in (first, other))
    return ours / its if math.isfinite(ours) or math.isfinite(its) else math.nan


def interval(seconds, first, other, seeds):
    """95 %, of 10,000 draws of the seeds, both arms of a seed together; of those in which one of
    the two medians is there, nan where none is."""
    draw = random.Random(1)
    drawn = (sooner(seconds, first, other, draw.choices(seeds, k=len(seeds)))
             for _ in range(DRAWS))
    ratios = sorted(ratio for ratio in drawn if not math.isnan(ratio))
    return (ratios[len(ratios) // 40], ratios[-len(ratios) // 40]) if ratios else (math.nan,) * 2


def quartiles(values):
    """As of statistics.quantiles, but values may be infinite, and as few as one: none lies beyond
    the least or the most."""
    ordered, found = sorted(values), []
    for quarter in (1, 2, 3):
        fourths = min(max(quarter * (len(ordered) + 1), 4), 4 * len(ordered)) - 4
        first, share = divmod(fourths, 4)
        found.append(ordered[first] if share == 0 else
                     (ordered[first] * (4 - share) + ordered[first + 1] * share) / 4)
    return found


def times_of(seconds, arm, seeds, form):
    """Cells: the median, and the quartiles beside it."""
    low, median, high = (format(value, form)
                         for value in quartiles(seconds[arm, seed] for seed in seeds))
    return [median, f"{low} to {high}"]


def soon_of(seconds, first, other, seeds):
    """A cell; empty beside itself."""
    if other == first:
        return ""
    low, high = interval(seconds, first, other, seeds)
    return f"{sooner(seconds, first, other, seeds):.2f}, {low:.2f} to {high:.2f}"
