#!/usr/bin/env python3
"""Turns figures of the control suite (JSON) into the CSV that our tests read.

    tools/golden_suite_csv.py settling RECORDING.json        > tests/golden/dmc/NAME.csv
    tools/golden_suite_csv.py model MODEL.json               > ...
    tools/golden_suite_csv.py tolerance EVERY tolerance.json > ...

One record a line, its kind first; numbers are the shortest text that gives the same double back.

`settling` is where a cheetah was put (`qpos_before`) and the state in which its episode then began
(`qpos`, `qvel`, `qacc_warmstart`). A model's lines are `<array>,<columns>,…`, and
`<array>@<rows>,<columns>,…` where all rows are the same. Standard library only.
"""
import json
import sys

STATE = ("qpos", "qvel", "qacc_warmstart")


def number(value):
    return repr(int(value) if float(value).is_integer() and abs(value) < 1e15 else float(value))


def record(kind, values):
    values = values if isinstance(values, list) else [values]
    return ",".join([kind] + [number(value) for value in values])


def settling(recording):
    yield f"task,dmc:{recording['domain']}_{recording['task']}"
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


KINDS = {"settling": (settling, 0), "model": (model, 0), "tolerance": (tolerance, 1)}


def main():
    make, number_count = KINDS[sys.argv[1]]
    settings = [int(text) for text in sys.argv[2:2 + number_count]]
    with open(sys.argv[2 + number_count], encoding="utf-8") as file:
        source = json.load(file)
    print("# dm_control 1.0.7, MuJoCo 2.2.2; made by tools/golden_suite_csv.py " + sys.argv[1])
    for line in make(*settings, source):
        print(line)


if __name__ == "__main__":
    main()
