"""What a run on separate hosts must stand. Each scenario asserts what is promised and gives a row
of figures; README.md says how they are run."""

import json
import os
import random
import statistics
import time

from hosts_run import Run, acknowledged, check, members_of, number, wait_for

SLOW_NETWORK = {"delay_ms": 20, "loss_percent": 1, "rate_mbit": 100}

HEALED_S_MAX = 5     # after a partition's end
SLOWED_RATIO_MIN = 0.7
INT8_RATIO_MIN = 2

ACTORS = 8


class Stage:
    """What all scenarios are given."""

    def __init__(self, network, build, folder, certs, minutes):
        self.network, self.build, self.folder = network, build, folder
        self.certs, self.minutes = certs, minutes
        self.runs = 0

    def run(self, settings=None):
        self.runs += 1
        return Run(self.network, self.build, os.path.join(self.folder, f"run-{self.runs}"),
                   settings or {}, self.certs)

    def slow_down(self):
        self.network.shape(**SLOW_NETWORK)


def settle(seconds=3):
    """What begins shall not be measured."""
    time.sleep(seconds)


# ---- throughput ---------------------------------------------------------------------------------

def plain(stage):
    """Three hosts, nothing in the way: the run learns, and stops in order."""
    with stage.run() as run:
        run.start(ACTORS)
        settle()
        rates = run.rates(10)
        account = close_account(run)
    return {"actors": ACTORS, **rounded(rates), **account}


def brief(stage):
    """The least of it, for a suite of tests: a slow network that is cut for a moment."""
    with stage.run() as run:
        run.start(2)
        watch = Watch(run)
        stage.slow_down()
        stage.network.cut("actors")
        time.sleep(1)
        stage.network.heal("actors")
        back_s = watch.wait_back(time.monotonic())
        stage.network.unshape()
        account = close_account(run)
    return {"actors": 2, "back_s": round(back_s, 2), **account}


def slow(stage):
    """A slow network costs less than three tenths of the throughput."""
    with stage.run() as run:
        run.start(ACTORS)
        settle()
        before = run.rates(20)
        stage.slow_down()
        settle()
        slowed = run.rates(20)
        stage.network.unshape()
        settle()
        after = run.rates(20)
    ratios = {key: 2 * slowed[key] / (before[key] + after[key]) for key in slowed}
    row = {"actors": ACTORS, **SLOW_NETWORK, "before": rounded(before), "slowed": rounded(slowed),
           "after": rounded(after), "ratio": rounded(ratios, 3)}
    for key, ratio in ratios.items():
        check(ratio >= SLOWED_RATIO_MIN, f"{key}: {ratio:.2f} of the same without; {row}")
    return row


# ---- partitions ---------------------------------------------------------------------------------

class Watch:
    """Of the actors of a run: that they come back, the same processes, and go on."""

    def __init__(self, run):
        self.run = run
        self.known = set(members_of(run.sure_status(), "actor"))

    def wait_back(self, since, progress=None):
        """Seconds from that moment until the learner has heard of all of them since, and has then
        heard from each that more steps were acknowledged."""
        progress = dict(progress or {})

        def are_back():
            passed_ms = 1000 * (time.monotonic() - since)
            status = self.run.status()
            there = members_of(status, "actor") if status else {}
            gone_on = set()
            for who in self.known.intersection(there):
                if number(there[who]["heartbeat_ms"]) < passed_ms:
                    steps = acknowledged(there[who])
                    gone_on |= {who} if steps > progress.setdefault(who, steps) else set()
            return gone_on == self.known

        wait_for("all actors to be back", are_back, pause_s=0.05)
        return time.monotonic() - since

    def progress(self):
        """What each of those that can be heard has had acknowledged by now."""
        return {who: acknowledged(member)
                for who, member in members_of(self.run.sure_status(), "actor").items()}


def partition(stage, host, seconds=30):
    with stage.run() as run:
        run.start(ACTORS)
        settle()
        before = run.rates(5)
        watch = Watch(run)
        stage.network.cut(host)
        time.sleep(seconds)
        lost = number(run.sure_status()["learner"]["members_lost"])
        stuck = watch.progress()
        stage.network.heal(host)
        back_s = watch.wait_back(time.monotonic(), stuck)
        settle()
        after = run.rates(5)
        check(all(daemon.lives() for daemon in run.daemons()), "a daemon ended")
        account = close_account(run)
    row = {"cut": host, "cut_s": seconds, "actors": ACTORS, "back_s": round(back_s, 2),
           "members_lost": lost, "before": rounded(before), "after": rounded(after), **account}
    check(back_s <= HEALED_S_MAX, f"back only after {back_s:.1f} s; {row}")
    return row


def partition_actors(stage):
    """The actors' host is cut off for half a minute."""
    return partition(stage, "actors")


def partition_replay(stage):
    """The shard's host is cut off for half a minute."""
    return partition(stage, "replay")


def partition_learner(stage):
    """The learner's host is cut off for half a minute."""
    return partition(stage, "learner")


def partition_short(stage):
    """The actors' host is cut off for so short a time that nobody is missed, and for longer."""
    rows = {}
    for seconds in (2, 6, 12):
        row = partition(stage, "actors", seconds)
        rows[f"back_s_after_{seconds}_s"] = row["back_s"]
    return rows


# ---- addresses ----------------------------------------------------------------------------------

def moved(stage, move, settings=None):
    """The run goes on after `move`, in the same processes but for the learner."""
    with stage.run(settings) as run:
        run.start(ACTORS)
        settle()
        before = run.rates(5)
        watch = Watch(run)
        begun = move(run)
        back_s = watch.wait_back(begun)
        settle()
        steps = number(run.sure_status()["learner"]["learner_steps"])
        wait_for("the learner to train",
                 lambda: number(run.sure_status()["learner"]["learner_steps"]) > steps)
        after = run.rates(5)
        account = close_account(run)
    return {"actors": ACTORS, "back_s": round(back_s, 2), "before": rounded(before),
            "after": rounded(after), **account}


def address_of_actors(stage):
    """The actors' host gets another address while they act."""
    def move(_run):
        stage.network.readdress("actors")
        return time.monotonic()
    return moved(stage, move)


def address_of_replay(stage):
    """The shard's host gets another address: with members that are missed meanwhile, and with such
    patience that none is."""
    def move(_run):
        stage.network.readdress("replay")
        return time.monotonic()
    return {"missed": moved(stage, move),
            "not_missed": moved(stage, move, {"net.member_timeout_ms": 30000})}


def learner_moves(stage):
    """The learner is stopped and goes on at another host, which has its name from then on; then
    that host vanishes without a word, and the learner goes on at the first one."""
    def stop_and_move(run):
        check(run.learner.end() == 0, "the learner failed")
        stage.network.call_it("learner", "spare")
        run.start_learner("spare", "--resume")
        return time.monotonic()

    def vanish_and_move(run):
        stage.network.cut("spare")
        run.learner.kill()
        time.sleep(3)
        stage.network.call_it("learner", "learner")
        run.start_learner("learner", "--resume")
        return time.monotonic()

    def both(run):
        begun = stop_and_move(run)
        stopped.append(Watch(run).wait_back(begun))
        settle()
        return vanish_and_move(run)

    stopped = []
    row = moved(stage, both, {"learner.checkpoint_period_s": 2})
    return {"back_s_after_stopping": round(stopped[0], 2), **row}


# ---- precision ----------------------------------------------------------------------------------

# As actorq compare --preset paper, for choices.
PAPER = {
    "task": "gym:CartPole-v1?sleep_us=5000", "learner.hidden": "2048,2048,2048",
    "learner.activation": "tanh", "learner.batch_size": 256, "learner.n_step": 5,
    "learner.target_period": 100, "learner.learning_rate": 0.0001, "learner.gradient_clip": 0,
    "replay.samples_per_insert": 16, "replay.min_size": 2000, "replay.tolerance": 2000,
    "replay.capacity": 200000, "actor.count": 4, "actor.envs": 1, "actor.epsilon_base": 0.05,
    "actor.epsilon_alpha": 0, "quantizer.publish_period": 8, "quantizer.full_period": 1,
    "quantizer.error_budget": 1,
}


def adopted_per_minute(stage, format_name, seconds):
    """Policy versions that an actor takes up in a minute of a slow network; the mean over all."""
    actors = PAPER["actor.count"]
    with stage.run({**PAPER, "quantizer.format": format_name}) as run:
        run.environment["ACTORQ_LOG"] = "debug"
        run.start(actors)
        wait_for("a policy", lambda: all(actor.lines("policy_adopted") for actor in run.actors))
        stage.slow_down()
        time.sleep(seconds / 2)  # what began on the fast network, and the first that did not
        first = [len(actor.lines("policy_adopted")) for actor in run.actors]
        learner, sent = run.sure_status()["learner"], stage.network.sent_bytes("learner")
        time.sleep(seconds)
        last = [len(actor.lines("policy_adopted")) for actor in run.actors]
        learner_then, sent_then = run.sure_status()["learner"], stage.network.sent_bytes("learner")
        lost = number(learner_then["members_lost"]) - number(learner["members_lost"])
        stage.network.unshape()
    minutes = seconds / 60
    published = number(learner_then["policy_versions"]) - number(learner["policy_versions"])
    return {"adopted": round((sum(last) - sum(first)) / actors / minutes, 2),
            "published": round(published / minutes, 2), "members_lost": lost,
            "learner_sent_mbit_s": round(8e-6 * (sent_then - sent) / seconds, 1)}


def precision(stage, seconds=180):
    """Wide policies reach actors behind a slow network more often in int8 than in fp32."""
    row = {name: adopted_per_minute(stage, name, seconds) for name in ("int8", "fp32")}
    check(row["int8"]["adopted"] >= INT8_RATIO_MIN * row["fp32"]["adopted"] > 0,
          f"versions adopted per minute: {row}")
    row["ratio"] = round(row["int8"]["adopted"] / row["fp32"]["adopted"], 2)
    return row


# ---- many ---------------------------------------------------------------------------------------

CROWD = 64

CROWDED = {"task": "gym:CartPole-v1?sleep_us=20000", "actor.count": CROWD,
           "replay.capacity": 8000000}


def crowd(stage):
    """64 actors, each a process, near and behind a slow network: with one shard, whose one
    connection to the learner then sets the pace, and with four, which cost less than three
    tenths of the throughput."""
    rows = {shards: crowd_around(stage, shards) for shards in (1, 4)}
    for key, ratio in rows[4]["ratio"].items():
        check(ratio >= SLOWED_RATIO_MIN, f"{key}: {ratio:.2f} of the same without; {rows[4]}")
    return {"actors": CROWD, **{f"shards_{shards}": row for shards, row in rows.items()}}


def crowd_around(stage, shards):
    with stage.run({**CROWDED, "replay.shards": shards}) as run:
        run.start(CROWD)
        settle(5)
        near = run.rates(15)
        stage.slow_down()
        settle(5)
        slowed = run.rates(15)
        stage.network.unshape()
        lost = number(run.sure_status()["learner"]["members_lost"])
        check(lost == 0, f"{lost:.0f} members were lost")
        account = close_account(run)
    ratio = {key: slowed[key] / near[key] for key in near}
    return {"near": rounded(near), "slowed": rounded(slowed), "ratio": rounded(ratio, 2),
            **account}


def cost(stage):
    """What an actor that does hardly anything takes of the others: heartbeats, credit and
    announcements. The difference between many and few."""
    idle = {"task": "gym:CartPole-v1?sleep_us=100000", "replay.min_size": 1000000}
    few, many, seconds = 4, 4 + CROWD, 30
    rows = []
    with stage.run(idle) as run:
        for count in (few, many):
            if run.actors:
                run.add_actors(count - few)
            else:
                run.start(count, trains=False)
            settle(5)
            begun = expenses(run)
            time.sleep(seconds)
            ended = expenses(run)
            rows.append({key: ended[key] - begun[key] for key in begun})
            rows[-1].update(learner_kb=ended["learner_kb"], replay_kb=ended["replay_kb"])
    each = {key: (rows[1][key] - rows[0][key]) / CROWD for key in rows[0]}
    return {"actors": CROWD, "a_second_each": rounded({
        "learner_cpu_us": 1e6 * each["learner_cpu_s"] / seconds,
        "replay_cpu_us": 1e6 * each["replay_cpu_s"] / seconds,
        "actors_send_bytes": each["actors_bytes"] / seconds,
        "learner_sends_bytes": each["learner_bytes"] / seconds,
        "replay_sends_bytes": each["replay_bytes"] / seconds}),
        "kb_each": rounded({"learner": each["learner_kb"], "replay": each["replay_kb"]})}


def expenses(run):
    return {"learner_cpu_s": run.learner.cpu_s(), "replay_cpu_s": run.shards[0].cpu_s(),
            "learner_kb": run.learner.resident_kb(), "replay_kb": run.shards[0].resident_kb(),
            **{host + "_bytes": run.network.sent_bytes(host)
               for host in ("learner", "replay", "actors")}}


STORM_RATIO_MIN = 0.9

# Calm and storm take turns, so that whatever else the machine does hits both alike.
TURN_S = 30


def storm_of_kills(run, seconds, heard):
    """One of the actors is killed each second, and another one started in its place. `heard` has
    what actors said was acknowledged, by their incarnations."""
    kills = 0
    first, begun = run.sure_status(), time.monotonic()
    while time.monotonic() < begun + seconds:
        place = random.randrange(CROWD)
        run.actors[place].kill()
        run.restart_actor(place)
        kills += 1
        note_acknowledged(run, heard)
        time.sleep(max(0, begun + kills - time.monotonic()))
    last, passed_s = run.sure_status(), time.monotonic() - begun
    steps = number(last["learner"]["learner_steps"]) - number(first["learner"]["learner_steps"])
    return kills, steps / passed_s


def note_acknowledged(run, heard):
    for who, member in members_of(run.sure_status(), "actor").items():
        heard[who] = max(heard.get(who, 0), acknowledged(member))


def storm(stage):
    """64 actors of which one is killed each second: the learner hardly notices, and all that was
    ever acknowledged is stored, once."""
    heard = {}
    kills, stormy = 0, []
    with stage.run(CROWDED) as run:
        run.start(CROWD)
        settle(10)
        calm = [run.rates(TURN_S)["learner_steps"]]
        for _ in range(max(1, round(60 * stage.minutes / TURN_S))):
            more, rate = storm_of_kills(run, TURN_S, heard)
            kills += more
            stormy.append(rate)
            settle()
            calm.append(run.rates(TURN_S)["learner_steps"])
        note_acknowledged(run, heard)
        account = close_account(run, killed=True)
        told = {actor.lines("joined")[-1]["incarnation"]: actor.lines("drained")[-1]
                for actor in run.actors}
        run.shards[0].kill()  # what it answered for must be on the disk by now
        stored = read_store(run, run.shards[0])
    lost = doubled = 0
    for who, steps in heard.items():
        lost += max(0, steps - stored["by"].get(f"{int(who):016x}", 0))
    for who, last in told.items():
        lost += max(0, int(last["acknowledged_steps"]) - stored["by"].get(who, 0))
        doubled += max(0, stored["by"].get(who, 0) - int(last["env_steps"]))
    doubled += stored["doubles"] + stored["seq_doubles"] + stored["seq_holes"]
    ratio = statistics.median(2 * rate / (calm[i] + calm[i + 1]) for i, rate in enumerate(stormy))
    row = {"actors": CROWD, "minutes": stage.minutes, "kills": kills,
           "learner_steps": rounded({"calm": statistics.mean(calm),
                                     "storm": statistics.mean(stormy)}),
           "ratio": round(ratio, 3), **account, "in_store": stored["transitions"],
           "actors_in_store": len(stored["by"]), "acknowledged_heard": int(sum(heard.values())),
           "lost": lost, "doubled": doubled}
    check(lost == 0 and doubled == 0 and stored["transitions"] == account["stored"],
          f"not each once: {row}")
    check(ratio >= STORM_RATIO_MIN, f"the learner slowed down: {row}")
    return row


# ---- accounts -----------------------------------------------------------------------------------

def read_store(run, shard):
    """What is in the folder of a shard that has ended, by who sent it."""
    text = run.actorq(shard.host, ["replay", "inspect", shard.store, "--json"])
    check(text, f"{shard.store} cannot be read")
    found = json.loads(text)
    by = {}
    for lane in found["actors"]:
        by[lane["incarnation"]] = by.get(lane["incarnation"], 0) + lane["transitions"]
    return {"by": by, **{key: found[key] for key in
                         ("transitions", "doubles", "seq_doubles", "seq_holes")}}


def close_account(run, killed=False):
    """Ends the actors; what they were told is stored must be there, once. Where some were killed
    before, who can tell nothing, there may be more. Two seconds to send the rest are not enough for
    all of a crowd on a busy machine, which they say then."""
    for actor in run.actors:
        actor.ask_to_end()
    steps = acknowledged_steps = 0
    for actor in run.actors:
        check(actor.wait_end() == 0, f"{actor.name} failed")
        last = actor.lines("drained")[-1]
        check(last["complete"] == "true" or killed, f"{actor.name} could not send all: {last}")
        steps += int(last["env_steps"])
        acknowledged_steps += int(last["acknowledged_steps"])
    check(steps == acknowledged_steps or killed,
          f"{steps} steps, {acknowledged_steps} acknowledged")
    inserted = 0
    for i in range(len(run.shards)):
        replay = wait_for("the shard to answer", lambda i=i: run.shard_status(i))
        inserted += int(replay["replay"]["inserted"])
    check(inserted == steps or (killed and inserted >= acknowledged_steps),
          f"{steps} steps, {acknowledged_steps} acknowledged, {inserted} stored")
    return {"steps": steps, "stored": inserted}


def rounded(figures, digits=1):
    return {key: round(value, digits) for key, value in figures.items()}


SCENARIOS = {function.__name__: function for function in (
    brief, plain, slow, partition_actors, partition_replay, partition_learner, partition_short,
    address_of_actors, address_of_replay, learner_moves, precision, crowd, cost, storm)}
