#!/usr/bin/env python3
"""Cuts recordings of the originals to what `env_replay` and its tests look at.

usage: golden_cut.py RECORDINGS tests/golden/recordings

RECORDINGS has gym/ and dmc/, as recorded. Numbers keep the text that gives the same double back.
"""
import json
import pathlib
import sys

KEPT = ("id", "domain", "task", "source", "note", "max_episode_steps", "reward_threshold",
        "observation_space", "initial_state", "initial_observation", "initial_qpos", "initial_qvel",
        "initial_act", "initial_qacc_warmstart", "model_changes_at_reset", "target_site_pos",
        "target_geom_pos", "actions", "observations", "rewards", "terminated", "truncated",
        "states", "resets", "discounts", "step_types", "qpos", "qvel", "act", "qacc_warmstart",
        "initial_state_distrib", "P", "episodes")
PROBED = ("qpos", "qvel", "act", "ctrl", "target_geom_pos", "target_site_pos", "observation",
          "reward")


def kept(names, members):
    """Those of them that are there."""
    return {name: members[name] for name in names if name in members}


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, out = (pathlib.Path(argument) for argument in sys.argv[1:])
    for path in sorted(source.rglob("*.json")):
        recording = json.loads(path.read_text(encoding="utf-8"))
        if not {"actions", "probes", "P"} & recording.keys():
            continue
        cut = kept(KEPT, recording)
        if "probes" in recording:
            cut["probes"] = [kept(PROBED, probe) for probe in recording["probes"]]
        to = out / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_text(json.dumps(cut, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
