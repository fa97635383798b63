#!/usr/bin/env python3
"""The tables of docs/environment-checks.md and docs/benchmarks/environment-speed.md, in Markdown.

usage: env_tables.py BUILD exact RECORDINGS
       env_tables.py BUILD speed [SECONDS]

BUILD is the build folder; RECORDINGS a folder of recordings, of which every one below it is played
back: from its first state to its end, and step by step from the recorded states.
"""
import json
import pathlib
import subprocess
import sys


def run(*arguments):
    """What a program answers, or what it says is wrong."""
    done = subprocess.run(arguments + ("--json",), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return json.loads(done.stdout), ""


def error_text(error):
    """0, or two digits."""
    if error is None:
        return "–"
    return "0" if error == 0 else f"{error:.1e}"


def errors_of(answer):
    """The cells of one way to play back."""
    names = ("max_obs_error", "max_reward_error", "max_state_error")
    return [error_text(answer[name]) for name in names] + [str(answer["mismatched_flags"])]


def print_exact(env_replay, folder):
    """A row for each recording; what is none is left out."""
    print("| recording | form | steps | observation | reward | state | flags | "
          "observation, per step | state, per step | flags, per step |")
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for path in sorted(pathlib.Path(folder).rglob("*.json")):
        answer, words = run(env_replay, str(path))
        if answer is None:
            print(f"{path.name}: {words}", file=sys.stderr)
            continue
        cells = [f"`{path.relative_to(folder).with_suffix('')}`", answer["form"],
                 str(answer["steps"])] + errors_of(answer)
        if answer["form"] == "episode":
            steps = errors_of(run(env_replay, str(path), "--per-step")[0])
            cells += [steps[0], steps[2], steps[3]]
        else:
            cells += ["", "", ""]
        print("| " + " | ".join(cells) + " |")


def rate_text(rate):
    """1,234,000: three digits count."""
    digits = len(str(int(rate)))
    return f"{round(rate, 3 - digits):,.0f}"


def print_speed(actorq, seconds):
    """A row for each task of this build."""
    print("| task | environments | steps/s | physics alone | ratio | a reset, µs |")
    print("|---|--:|--:|--:|--:|--:|")
    for task in run(actorq, "envs")[0]["envs"]:
        answer, words = run(actorq, "env", "bench", task["name"], "--seconds", seconds)
        if answer is None:
            print(words, file=sys.stderr)
            continue
        cells = [f"`{task['name']}`", str(answer["envs"]), rate_text(answer["steps_per_s"])]
        if answer["physics_ratio"] is not None:
            cells += [rate_text(answer["physics_steps_per_s"]), f"{answer['physics_ratio']:.3f}"]
        else:
            cells += ["", ""]
        print("| " + " | ".join(cells + [f"{answer['reset_ns'] / 1000:.3g}"]) + " |")


def main():
    if len(sys.argv) == 4 and sys.argv[2] == "exact":
        print_exact(sys.argv[1] + "/bench/env_replay/env_replay", sys.argv[3])
    elif len(sys.argv) in (3, 4) and sys.argv[2] == "speed":
        print_speed(sys.argv[1] + "/cli/actorq", sys.argv[3] if len(sys.argv) == 4 else "3")
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
