#!/usr/bin/env python3
"""Cuts recordings of the originals to what the tests of `env_replay` need.

usage: golden_cut.py RECORDINGS OUT

RECORDINGS has gym/ and dmc/, as recorded; OUT gets a small file of each form. Numbers keep the text
that gives the same double back.
"""
import json
import pathlib
import sys

STEPS = 24
PROBES = 6

# Of a row each step.
ROWS = ("actions", "observations", "rewards", "terminated", "truncated", "states", "discounts",
        "step_types", "qpos", "qvel", "act", "qacc_warmstart")
KEPT = ("id", "domain", "task", "source", "note", "initial_state", "initial_observation",
        "initial_qpos", "initial_qvel", "initial_act", "initial_qacc_warmstart",
        "model_changes_at_reset", "target_site_pos", "target_geom_pos")
PROBED = ("qpos", "qvel", "act", "ctrl", "target_geom_pos", "target_site_pos", "observation",
          "reward")


def cut_episode(recording, steps):
    """The first steps, and the resets among them."""
    cut = {name: recording[name] for name in KEPT if name in recording}
    for name in ROWS:
        if name in recording:
            cut[name] = recording[name][:steps]
    if "resets" in recording:
        cut["resets"] = [reset for reset in recording["resets"] if reset["after_step"] < steps]
    return cut


def cut_probes(recording):
    """The first probes."""
    cut = {name: recording[name] for name in KEPT if name in recording}
    cut["probes"] = [{name: probe[name] for name in PROBED if name in probe}
                     for probe in recording["probes"][:PROBES]]
    return cut


def cut_table(recording):
    """The whole table, and the beginning of its first episode."""
    cut = {name: recording[name] for name in ("id", "source", "initial_state_distrib", "P")}
    first = dict(recording["episodes"][0])
    first["steps"] = first["steps"][:STEPS]
    cut["episodes"] = [first]
    return cut


FILES = {
    "gym/CartPole-v1_1.json": lambda recording: cut_episode(recording, STEPS),
    "gym/Pendulum-v1_1.json": lambda recording: cut_episode(recording, STEPS),
    "gym/FrozenLake-v1_4x4_slippery.json": cut_table,
    "gym/CliffWalking-v1_slippery.json": cut_table,
    "dmc/cartpole_swingup_1.json": lambda recording: cut_episode(recording, STEPS),
    "dmc/finger_turn_hard_1.json": lambda recording: cut_episode(recording, STEPS),
    "dmc/walker_walk_3.json": lambda recording: cut_episode(recording, STEPS),
    "dmc/probe/reacher_easy.json": cut_probes,
}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = (pathlib.Path(argument) for argument in sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    for path, cut in FILES.items():
        recording = json.loads((source / path).read_text(encoding="utf-8"))
        name = path.replace("dmc/probe/", "probe_").split("/")[-1]
        text = json.dumps(cut(recording), separators=(",", ":"))
        (out / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
