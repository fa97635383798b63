#!/usr/bin/env python3
"""What Python adds to libactorq, beside C in the same run.

    PYTHONPATH=build/python bench/python_overhead.py RUN [BUILD]

Times are the processor's. Calls are the least of nine slices, so that what else runs counts less;
steps per second are the median of them, as those of C are. Figures in brackets are what was wanted.
"""
import ctypes
import resource
import statistics
import subprocess
import sys
import time

import numpy as np

import actorq
from run_once import ask

SLICES = 9
LANES = 1024


def slices(work, calls):
    """Nanoseconds of a call, by slice."""
    times = []
    for _ in range(SLICES):
        start = time.process_time_ns()
        for _ in range(calls):
            work()
        times.append((time.process_time_ns() - start) / calls)
    return times


def least(work, calls):
    return min(slices(work, calls))


def acting(run, build):
    alone = ask(f"{build}/bench/bench_act", run)
    policy = actorq.load(run)
    print(f"{policy}")
    for rows, calls in ((1, 20000), (256, 1000)):
        obs = np.zeros((rows, *policy.observation_space.shape), np.float32)
        obs = obs[0] if rows == 1 else obs
        ns, engine = least(lambda obs=obs: policy.act(obs), calls), alone[str(rows)]
        print(f"  act, {rows:3} rows: {ns:8.0f} ns; C {engine:8.0f} ns; {ns - engine:6.0f} ns more "
              + ("[2000 at most]" if rows == 1 else
                 f"= {ns / rows:.0f} ns a row [1000 at most]"))


def by_ctypes(run, build):
    """What another way to the same function takes."""
    library = ctypes.CDLL(f"{build}/library/libactorq.so.1")
    load, act = library.actorq_policy_load, library.actorq_policy_act
    load.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p]
    act.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p,
                    ctypes.c_void_p]
    policy = ctypes.c_void_p()
    if load(run.encode(), None, ctypes.byref(policy), None) != 0:
        raise SystemExit(f"{run} cannot be loaded")
    facts = actorq.load(run)
    obs = np.zeros(facts.observation_space.shape, np.float32)
    out = np.zeros_like(facts.act(obs))
    from_, to = obs.ctypes.data, out.ctypes.data

    def whole():
        made = np.empty_like(out)
        act(policy, obs.ctypes.data, 1, made.ctypes.data, None)

    print(f"  by ctypes: {least(lambda: act(policy, from_, 1, to, None), 20000):.0f} ns with known "
          f"addresses, {least(whole, 20000):.0f} ns with arrays")


def stepping(task, lanes, steps):
    c = ask(actorq.find_program(), "env", "bench", task, "--envs", str(lanes), "--seconds", "3",
            "--json")["steps_per_s"]
    for copy in (True, False):
        envs = actorq.make_vec(task, lanes, seed=1, copy=copy)
        envs.action_space.seed(1)
        actions = [envs.action_space.sample() for _ in range(64)]
        if actions[0].dtype == np.int64:
            actions = [row.astype(np.int32) for row in actions]
        turns = iter(actions * (steps * SLICES // 64 + 1))
        envs.reset()
        rate = lanes * 1e9 / statistics.median(slices(lambda: envs.step(next(turns)), steps))
        print(f"  {task}, {lanes} environments, copy={copy!s:5}: {rate / 1e6:8.3f} M steps/s; "
              f"C {c / 1e6:8.3f} M; {rate / c:4.0%}")
        envs.close()


def importing():
    def seconds(code):
        times = []
        for _ in range(SLICES):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([sys.executable, "-c", code], check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        return min(times)
    print(f"  import actorq: {(seconds('import actorq') - seconds('pass')) * 1e3:.0f} ms "
          "[50 at most]")


def main(run, build="build"):
    acting(run, build)
    by_ctypes(run, build)
    stepping("gym:CartPole-v1", LANES, 500)
    if "dmc:walker_walk" in actorq.tasks():
        stepping("dmc:walker_walk", 8, 1000)
        stepping("dmc:cheetah_run", 8, 1000)
    importing()


if __name__ == "__main__":
    main(*sys.argv[1:])
