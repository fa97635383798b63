#!/usr/bin/env python3
"""Turns a recording of a Gymnasium environment (JSON) into the CSV that our tests read.

    tools/golden_gym_csv.py RECORDING.json [STEPS] >tests/golden/gym/NAME.csv

STEPS: the first so many of each episode alone.

One record a line, its kind first; numbers are the shortest text that gives the same double back:

    env,<id>,<step limit>,<reward threshold or nan>
    low,<observation bounds>          high,<observation bounds>
    reset,<state>                     the state to go on from
    step,<action>,<reward>,<terminated>,<truncated>,<state>,<observation>
                                      what the step returned, before any reset

A table (toy text) becomes:

    table,<id>,<states>,<actions>,<step limit or 0>,<reward threshold or nan>
    start,<state>,<chance>            an episode may begin there
    outcomes,<state>,<action>,{<chance>,<next state>,<reward>,<terminated>}...
    reset,<state>
    step,<action>,<next state>,<reward>,<terminated>,<truncated>,<chance>
Standard library only.
"""
import json
import sys


def numbers(values):
    """A number or a list of them, as CSV fields."""
    values = values if isinstance(values, list) else [values]
    return [repr(int(v) if isinstance(v, (bool, int)) else float(v)) for v in values]


def threshold_of(recording):
    """The reward threshold as a CSV field."""
    threshold = recording["reward_threshold"]
    return "nan" if threshold is None else repr(float(threshold))


def episode_records(recording, steps):
    """Of a classic."""
    yield ["env", recording["id"], str(recording["max_episode_steps"]), threshold_of(recording)]
    yield ["low"] + numbers(recording["observation_space"]["low"])
    yield ["high"] + numbers(recording["observation_space"]["high"])
    yield ["reset"] + numbers(recording["initial_state"])
    resets = {reset["after_step"]: reset for reset in recording["resets"]}
    for t, action in enumerate(recording["actions"][:steps]):
        yield (["step"] + numbers(action) + numbers(recording["rewards"][t])
               + numbers(recording["terminated"][t]) + numbers(recording["truncated"][t])
               + numbers(recording["states"][t]) + numbers(recording["observations"][t]))
        if t in resets:
            yield ["reset"] + numbers(resets[t]["state"])


def table_records(recording, steps):
    """Of toy text."""
    yield ["table", recording["id"]] + numbers([recording["nS"], recording["nA"],
                                                recording["max_episode_steps"] or 0]) + [
        threshold_of(recording)]
    for state, chance in enumerate(recording["initial_state_distrib"]):
        if chance > 0:
            yield ["start", str(state), repr(chance)]
    for state, actions in enumerate(recording["P"]):
        for action, outcomes in enumerate(actions):
            fields = numbers([state, action])
            for chance, following, reward, terminated in outcomes:
                fields += [repr(chance)] + numbers([following, int(reward), int(terminated)])
                assert reward == int(reward)
            yield ["outcomes"] + fields
    for episode in recording["episodes"]:
        yield ["reset", str(episode["initial_state"])]
        for step in episode["steps"][:steps]:
            yield ["step"] + numbers(step[:6])
            if len(step) > 6:
                yield ["reset", str(step[6])]


def main():
    if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    with open(sys.argv[1], encoding="utf-8") as file:
        recording = json.load(file)
    steps = int(sys.argv[2]) if len(sys.argv) == 3 else None
    if "P" in recording:
        print(f"# {recording['source']}")
        records = table_records
    else:
        print(f"# {recording['source']}; policy {recording['policy']}, seed {recording['seed']}")
        records = episode_records
    for record in records(recording, steps):
        print(",".join(record))


if __name__ == "__main__":
    main()
