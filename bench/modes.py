#!/usr/bin/env python3
"""Ways of learning in parallel beside each other: the tables of docs/parallelism.md.

    bench/modes.py --work DIR [--seeds N] [--only TEXT] [--report]

Compares the modes on each task of ROWS by `actorq compare`, whose reports stay in DIR, and prints
tables in Markdown. A comparison that DIR has is gone on with where it was, so that a campaign can
be interrupted; with --report nothing is trained. `--write docs/parallelism.md` puts the tables
there, between the marks.
"""
import json
import pathlib
import subprocess

from campaign import head_of, options, row_of
from run_once import ENVIRONMENT

MODES = "experience,sync,async,model,hybrid"
BEGIN, END = "<!-- bench/modes.py begins -->", "<!-- bench/modes.py ends -->"

# Name, task, score, settings over the algorithm's preset. Layers are as wide as ranks need them to
# share a network, and budgets such that all of it takes less than half an hour on two processors.
WIDTH = "learner.hidden=128,128"
SMALL = [WIDTH, "learner.critic_hidden=128,128", "learner.batch_size=64", "limits.env_steps=40000"]
ROWS = [
    ("ppo", "gym:CartPole-v1", 475, ["limits.env_steps=200000"]),
    ("a2c", "gym:CartPole-v1", 475, ["limits.env_steps=500000"]),
    ("dqn", "gym:CartPole-v1", 475, [WIDTH, "limits.env_steps=300000"]),
    ("d4pg", "dmc:cartpole_balance", 900, SMALL),
    ("sac", "dmc:cartpole_swingup", 300, [*SMALL, "replay.samples_per_insert=64",
                                         "learner.clipped_double_q=true"]),
]

# Key in compare.json, its title, how it is written.
REACHED = [("return_mean", "final score", "{:.4g}"), ("time_to_score_s", "s to score", "{:.3g}"),
           ("steps_to_score", "steps to score", "{:,.0f}")]
COST = [("env_steps_per_s", "steps/s", "{:,.0f}"), ("updates_per_s", "updates/s", "{:,.0f}"),
        ("waiting_share", "waits", "{:.0%}"), ("bytes_per_update", "bytes/update", "{:,.0f}"),
        ("actors_cpu_s", "actors, processor s", "{:.1f}"),
        ("learner_cpu_s", "learner, processor s", "{:.1f}"),
        ("cpu_s", "all, processor s", "{:.1f}"), ("energy_j", "J", "{:.0f}")]
ROLES = ["actors", "learner", "replay", "evaluator"]
NATURE = [("gradient_noise_scale", "noise scale, rows", "{:,.0f}"),
          ("gradient_cosine", "cosine", "{:.2g}"), ("staleness", "versions behind", "{:.3g}")]
SECTIONS = [("Scores", REACHED), ("Rates and costs", COST), ("Gradients", NATURE)]


def compare(actorq, row, work, seeds, train):
    """The report of one row; None where there is none yet."""
    name, task, score, settings = row
    folder = work / f"{name}-{task.split(':')[1]}"
    if train:
        begin = [task, "--modes", MODES, "--scaling", "1", "--parallel", "2", "--seeds", str(seeds),
                 "--threshold", str(score), "--set", f"learner.algorithm={name}"]
        for setting in settings:
            begin += ["--set", setting]
        what = ["--resume"] if (folder / "plan.json").exists() else begin
        subprocess.run([actorq, "compare", *what, "--output", str(folder), "--quiet"], check=True,
                       env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    report = folder / "compare.json"
    return json.loads(report.read_text()) if report.exists() else None


def text(row, key, form):
    """A figure with half its interval; what is not known is a dash."""
    value, spread = row.get(key), row.get(f"{key}_ci95")
    if value is None:
        return f"{row['seeds_reached']} of {row['seeds']}" if "score" in key else "–"
    shown = form.format(value)
    return f"{shown} ± {form.format(spread)}" if spread is not None else shown


def efficiencies(reports):
    """A line for each mode, of the numbers side by side that any of them has one of."""
    rows = [(name, task, row) for (name, task, *_), report in reports
            for row in report["rows"] if row["seeds"] and "-" not in row["mode"]]
    known = [i for i, at in enumerate(rows[0][2]["scaling"] if rows else [])
             if any(row["scaling"][i]["efficiency"] is not None for _, _, row in rows)]
    heads = ["task", "mode", *(str(rows[0][2]["scaling"][i]["parallel"]) for i in known)]
    yield from table(heads, [[f"{name}, {task}", f"`{row['mode']}`",
                              *(efficiency(row["scaling"][i]) for i in known)]
                             for name, task, row in rows])


def efficiency(at):
    if at["efficiency"] is None:
        return "–"
    return f"{at['efficiency']:.2f}" + (" (model)" if at["by"] == "model" else "")


def table(heads, rows):
    yield head_of(heads, left=2)
    yield from map(row_of, rows)


def tables(reports):
    """Lines; a mode that did not finish is said below."""
    def lines(columns):
        return [[f"{name}, {task}", f"`{row['mode']}`", *[text(row, key, form)
                                                         for key, _, form in columns]]
                for (name, task, *_), report in reports for row in report["rows"] if row["seeds"]]
    heads = ["task", "mode"]
    for _, report in reports:
        for row in report["rows"]:
            row["cpu_s"] = sum(row[f"{role}_cpu_s"] or 0 for role in ROLES)
    for title, columns in SECTIONS:
        yield from [f"### {title}", ""]
        yield from table(heads + [title for _, title, _ in columns], lines(columns))
        yield ""
    yield from ["### Efficiency", ""]
    yield from efficiencies(reports)
    yield ""
    for (name, task, *_), report in reports:
        for row in report["rows"]:
            if row["seeds"] < row["seeds_asked"] and "-" not in row["mode"]:
                yield f"- {name}, {task}, `{row['mode']}`: {row['state']}"


def write(path, lines):
    """Between the marks of the page."""
    page = path.read_text()
    before, rest = page.split(BEGIN)
    path.write_text(before + "\n".join([BEGIN, "", *lines, "", END]) + rest.split(END)[1])


def main():
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--only", default="", help="rows whose name or task has this text in it")
    parser.add_argument("--report", action="store_true", help="train nothing")
    parser.add_argument("--write", type=pathlib.Path, help="the page that gets the tables")
    arguments = parser.parse_args()
    reports = []
    for row in ROWS:
        if arguments.only in " ".join(row[:2]):
            report = compare(arguments.actorq, row, arguments.work, arguments.seeds,
                             not arguments.report)
            reports += [(row, report)] if report else []
    lines = list(tables(reports))
    print("\n".join(lines))
    if arguments.write:
        write(arguments.write, lines)


if __name__ == "__main__":
    main()
