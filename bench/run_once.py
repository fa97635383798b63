"""Runs that are made once, and what is kept of them beside their folder."""
import csv
import json
import os
import shutil
import subprocess
import time

# Of the runs: OpenBLAS takes the kernels that suit the processor.
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if name not in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE")}


def ask(*words):
    """What a program says as JSON; it fails where the program does, with its words."""
    return json.loads(subprocess.run(words, env=ENVIRONMENT, check=True,
                                     stdout=subprocess.PIPE).stdout)


def ask_once(kept, *words):
    """The same, or what it said when `kept` was written."""
    if not kept.exists():
        kept.write_text(json.dumps(ask(*words)))
    return json.loads(kept.read_text())


def command(row):
    learners = ["--learners", str(row["learners"])] if "learners" in row else []
    algorithm = ["--set", f"learner.algorithm={row['algorithm']}"] if "algorithm" in row else []
    return ["train", row["task"], *learners, *row.get("options", []), *algorithm,
            *[word for setting in row["settings"] for word in ("--set", setting)]]


def folder_of(work, row, seed):
    name = "-".join([row["task"], row["algorithm"], *row["settings"], str(seed)])
    return work / "".join(c if c.isalnum() or c in "._-" else "_" for c in name)


def train(actorq, row, folder, seed):
    """Seconds by the wall and of processors; of a run that was made before, those of then."""
    kept = folder.with_name(f"{folder.name}.times.json")
    if not kept.exists():
        shutil.rmtree(folder, ignore_errors=True)  # of one that did not come to its end
        begun = time.monotonic()
        child = subprocess.Popen([actorq, *command(row), "--seed", str(seed), "--run", str(folder),
                                  "--parent", str(os.getpid()), "--quiet", "--json"],
                                 env=ENVIRONMENT, stdout=subprocess.PIPE)
        said = child.stdout.read()
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0 or json.loads(said)["interrupted"]:
            raise SystemExit(f"{folder} did not come to its end: {actorq} {' '.join(command(row))}")
        kept.write_text(json.dumps([time.monotonic() - begun, used.ru_utime + used.ru_stime]))
    return json.loads(kept.read_text())


def kept_return(actorq, row, folder, seed, precision=None):
    """The mean of fresh greedy episodes of the policy that the run kept, as it was broadcast, or
    of the same in another precision."""
    return ask_once(folder.with_name(f"{folder.name}.return{precision or ''}.json"),
                    actorq, "eval", folder, "--episodes", str(row["episodes"]),
                    "--seed", str(1000 + seed), "--json",
                    *(["--precision", precision] if precision else []))["return_mean"]


def measure(arguments, row, seeds):
    """Of each seed what `kept_return` and `train` tell: returns, seconds by the wall and of
    processors."""
    told = []
    for seed in seeds:
        folder = folder_of(arguments.work, row, seed)
        times = train(arguments.actorq, row, folder, seed)
        told.append([kept_return(arguments.actorq, row, folder, seed), *times])
    return list(zip(*told))


def rows_of(path):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def append(path, header, rows):
    begins = not path.exists()
    with path.open("a", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *rows] if begins else rows)
