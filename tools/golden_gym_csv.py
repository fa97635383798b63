#!/usr/bin/env python3
"""Turns a recording of a Gymnasium environment (JSON) into the CSV that our tests read.

    tools/golden_gym_csv.py RECORDING.json > tests/golden/gym/NAME.csv

One record a line, its kind first; numbers are the shortest text that gives the same double back:

    env,<id>,<step limit>,<reward threshold or nan>
    low,<observation bounds>          high,<observation bounds>
    reset,<state>                     the state to go on from
    step,<action>,<reward>,<terminated>,<truncated>,<state>,<observation>
                                      what the step returned, before any reset
Standard library only.
"""
import json
import sys


def numbers(values):
    """A number or a list of them, as CSV fields."""
    values = values if isinstance(values, list) else [values]
    return [repr(int(v) if isinstance(v, (bool, int)) else float(v)) for v in values]


def records(recording):
    threshold = recording["reward_threshold"]
    yield ["env", recording["id"], str(recording["max_episode_steps"]),
           "nan" if threshold is None else repr(float(threshold))]
    yield ["low"] + numbers(recording["observation_space"]["low"])
    yield ["high"] + numbers(recording["observation_space"]["high"])
    yield ["reset"] + numbers(recording["initial_state"])
    resets = {reset["after_step"]: reset for reset in recording["resets"]}
    for t, action in enumerate(recording["actions"]):
        yield (["step"] + numbers(action) + numbers(recording["rewards"][t])
               + numbers(recording["terminated"][t]) + numbers(recording["truncated"][t])
               + numbers(recording["states"][t]) + numbers(recording["observations"][t]))
        if t in resets:
            yield ["reset"] + numbers(resets[t]["state"])


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        recording = json.load(file)
    print(f"# {recording['source']}; policy {recording['policy']}, seed {recording['seed']}")
    for record in records(recording):
        print(",".join(record))


if __name__ == "__main__":
    main()
