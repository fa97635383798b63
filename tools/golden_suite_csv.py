#!/usr/bin/env python3
"""Turns recordings of the control suite (JSON) into the CSV that our tests read.

    tools/golden_suite_csv.py episode STEPS EVERY RECORDING.json... > tests/golden/dmc/NAME.csv
    tools/golden_suite_csv.py pairs COUNT RECORDING.json            > ...
    tools/golden_suite_csv.py probes COUNT PROBES.json              > ...
    tools/golden_suite_csv.py settling RECORDING.json               > ...
    tools/golden_suite_csv.py model MODEL.json                      > ...
    tools/golden_suite_csv.py tolerance EVERY tolerance.json        > ...

Several recordings of an episode are of tasks that differ in nothing but their rewards. One record a
line, its kind first; numbers are the shortest text that gives the same double back:

    task,<name>                  of what follows; one line for each
    qpos,… qvel,… qacc_warmstart,… ctrl,… target_geom_pos,… target_site_pos,…
                                 a state to go on from
    action,…                     one control step
    obs,…                        the observation of where it now stands (every EVERY-th step)
    reward,…                     of each task

`pairs` keeps COUNT steps, those with most contacts, each with the state before it. `settling` is
where a cheetah was put (`qpos_before`) and the state in which its episode then began. A model's
lines are `<array>,<columns>,…`, and `<array>@<rows>,<columns>,…` where all rows are the same.
Standard library only.
"""
import json
import sys

STATE = ("qpos", "qvel", "qacc_warmstart")


def number(value):
    return repr(int(value) if float(value).is_integer() and abs(value) < 1e15 else float(value))


def record(kind, values):
    values = values if isinstance(values, list) else [values]
    return ",".join([kind] + [number(value) for value in values])


def task_of(recording):
    return f"task,dmc:{recording['domain']}_{recording['task']}"


def target_of(recording):
    """Where the episode put its target: an element that the task moved."""
    for kind in ("geom", "site"):
        change = recording.get("model_changes_at_reset", {}).get(f"{kind}_pos")
        if change is not None:
            place = recording[f"initial_{kind}_xpos"][change["index"][0][0]]
            yield record(f"target_{kind}_pos", place)


def episode(steps, every, *recordings):
    first = recordings[0]
    for other in recordings:
        assert other["actions"] == first["actions"] and other["qpos"] == first["qpos"]
        yield task_of(other)
    yield from (record(name, first[f"initial_{name}"]) for name in STATE)
    yield from target_of(first)
    yield record("obs", first["initial_observation"])
    for t in range(steps):
        yield record("action", first["actions"][t])
        if (t + 1) % every == 0 or t + 1 == steps:
            yield record("obs", first["observations"][t])
        yield record("reward", [recording["rewards"][t] for recording in recordings])


def pairs(count, recording):
    yield task_of(recording)
    by_contacts = sorted(range(1, len(recording["actions"])), key=lambda t: -recording["ncon"][t])
    for t in sorted(by_contacts[:count]):
        yield from (record(name, recording[name][t - 1]) for name in STATE)
        yield from target_of(recording)
        yield record("action", recording["actions"][t])
        yield record("obs", recording["observations"][t])
        yield record("reward", recording["rewards"][t])


def probes(count, recording):
    yield task_of(recording)
    for probe in recording["probes"][:: len(recording["probes"]) // count][:count]:
        names = ("qpos", "qvel", "ctrl", "target_geom_pos", "target_site_pos")
        yield from (record(name, probe[name]) for name in names if name in probe)
        yield record("obs", probe["observation"])
        yield record("reward", probe["reward"])


def settling(recording):
    yield task_of(recording)
    yield record("qpos_before", recording["cheetah_qpos_before_settling"])
    yield from (record(name, recording[f"initial_{name}"]) for name in STATE)


def model_array(name, rows):
    if not isinstance(rows[0], list):
        rows = [[value] for value in rows]
    columns = len(rows[0])
    if len(rows) > 2 and all(row == rows[0] for row in rows):
        return record(f"{name}@{len(rows)}", [columns] + rows[0])
    return record(name, [columns] + [value for row in rows for value in row])


def model(description):
    for group in ("opt", "stat", "sizes"):
        for name, value in description[group].items():
            if not name.endswith(("_name", "_names")):
                yield record(f"{group}.{name}", value)
    for kind, names in description["names"].items():
        if names:
            yield ",".join([f"names.{kind}"] + names)
    for name, rows in description.items():
        if isinstance(rows, list) and rows and not name.endswith("_name") \
                and name != "exclude_pairs":
            yield model_array(name, rows)


def tolerance(every, table):
    """<falloff>,<x>,<low>,<high>,<margin>,<value at margin>,<result>"""
    # What our tasks have.
    rows = [row for row in table["rows"]
            if row[5] == "linear" or (row[5] == "gaussian" and row[4] == 0.1)]
    yield from (record(row[5], row[:5] + row[6:]) for row in rows[::every])


KINDS = {"episode": (episode, 2), "pairs": (pairs, 1), "probes": (probes, 1),
         "settling": (settling, 0), "model": (model, 0),
         "tolerance": (tolerance, 1)}


def main():
    make, number_count = KINDS[sys.argv[1]]
    settings = [int(text) for text in sys.argv[2:2 + number_count]]
    inputs = []
    for name in sys.argv[2 + number_count:]:
        with open(name, encoding="utf-8") as file:
            inputs.append(json.load(file))
    print("# dm_control 1.0.7, MuJoCo 2.2.2; made by tools/golden_suite_csv.py " + sys.argv[1])
    for line in make(*settings, *inputs):
        print(line)


if __name__ == "__main__":
    main()
