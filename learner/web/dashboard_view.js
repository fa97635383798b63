/* How things stand: out of a run document, see learner/web/dashboard.c. */
const STATES = {
    RUN_STATE_RUNNING: "running", RUN_STATE_SOLVED: "solved",
    RUN_STATE_BUDGET: "ended at its limit", RUN_STATE_STOPPED: "stopped",
    RUN_STATE_DIVERGED: "diverged",
};
const ROLES = {ROLE_ACTOR: "actor", ROLE_EVALUATOR: "evaluator", ROLE_REPLAY: "replay"};

function ratio(over, under) {
    return numeric(under) > 0 ? numeric(over) / numeric(under) : NaN;
}

function showHead(run) {
    const status = run.status;
    document.title = status.task + " – ActorQ";
    setText(byId("task"), status.task);
    const chips = [STATES[status.state] || "unknown", status.algorithm,
        "broadcast in " + status.precision, run.plan.network, "seed " + status.seed];
    fillList(byId("chips"), chips, () => make("li"), setText);
}

function meter(name, done, limit, text, solved) {
    return {name, text, share: Math.max(0, Math.min(1, ratio(done, limit))), solved};
}

/* Until it was played afresh, a version leads that had luck in its screening. */
function bestText(learner) {
    const fresh = learner.return_best_confirmed || !Number.isFinite(numeric(learner.return_best));
    return returnText(learner.return_best) + (fresh ? "" : " (screening)");
}

function showVerdict(run) {
    const learner = run.status.learner;
    const plan = run.plan;
    byId("verdict").dataset.level = run.verdict.level;
    setText(byId("headline"), run.verdict.headline);
    fillList(byId("notes"), run.verdict.notes, () => make("li"), (item, note) => {
        item.dataset.level = note.level;
        setText(item, note.text);
    });
    const of = (done, limit, text) => text(done) + " of " + text(limit);
    const meters = [];
    const best = numeric(learner.return_best);
    if (plan.threshold > 0 && Number.isFinite(best)) {
        meters.push(meter("Best return", best, plan.threshold,
            bestText(learner) + " of " + returnText(plan.threshold),
            learner.return_best_confirmed && best >= plan.threshold));
    }
    for (const [name, done, limit, text] of [
        ["Environment steps", learner.env_steps, plan.env_steps, countText],
        ["Learner steps", learner.learner_steps, plan.learner_steps, countText],
        ["Time", learner.wall_s, plan.wall_s, durationText]]) {
        if (limit > 0) {
            meters.push(meter(name, done, limit, of(done, limit, text)));
        }
    }
    fillList(byId("progress"), meters, () => make("div", "meter", make("span"), make("span"),
        make("div", "track", make("div"))), (element, each) => {
        setText(element.children[0], each.name);
        setText(element.children[1], each.text);
        const track = element.children[2];
        track.className = "track" + (each.solved ? " solved" : "");
        track.setAttribute("role", "progressbar");
        track.setAttribute("aria-label", each.name);
        track.setAttribute("aria-valuenow", Math.round(100 * each.share));
        track.setAttribute("aria-valuetext", each.text);
        track.firstElementChild.style.width = 100 * each.share + "%";
    });
}

/* Of the versions, those that went out in fp32 as quantizing changed them too much. */
function fallbackShare(learner) {
    const error = learner.quant_error || {};
    return ratio(error.fallbacks || 0, learner.policy_versions);
}

function showTiles(run) {
    const learner = run.status.learner;
    const lately = run.lately;
    const error = learner.quant_error || {};
    const energy = learner.energy || {};
    const saved = numeric(learner.broadcast_bytes_fp32) - numeric(learner.broadcast_bytes);
    const tiles = [
        ["Return", returnText(learner.return_mean), "± " + returnText(learner.return_std) +
            (learner.return_fell_back ? " in fp32" : "") + ", best " + bestText(learner)],
        ["Environment", rateText(learner.env_steps_per_s), countText(learner.env_steps) +
            " steps, " + lately.actors + (lately.actors === 1 ? " actor" : " actors"), "/s"],
        ["Learner", rateText(learner.learner_steps_per_s), countText(learner.learner_steps) +
            " steps", "/s"],
        ["Learner waits", shareText(lately.learner_waits), "of the last minute, for samples"],
        ["Actors wait", shareText(lately.actors_wait), "of the last minute, for the learner"],
        ["Broadcast saved", bytesText(saved), numberText(ratio(learner.broadcast_bytes_fp32,
            learner.broadcast_bytes)) + " times smaller than whole fp32"],
        ["Quantizing costs", error.rows ? shareText(error.cost) : NONE,
            "of what is at stake; " + shareText(fallbackShare(learner)) +
            " of the versions fell back to fp32"],
        ["Energy", energyText(energy.energy_j), numberText(energy.carbon_g) + " g CO₂e" +
            (energy.source === "model" ? ", by a model" : "")],
    ];
    fillList(byId("tiles"), tiles, () => make("div", "tile", make("div", "label"),
        make("div", "value", make("span"), make("small")), make("div", "more")),
    (element, [label, value, more, unit]) => {
        setText(element.children[0], label);
        setText(element.children[1].children[0], value);
        setText(element.children[1].children[1], unit ? " " + unit : "");
        setText(element.children[2], more);
    });
}

/* ---- cards ---- */

function binName(index) {
    const least = index === 0 ? 0 : 2 ** (index - 1);
    return index < 2 ? String(least) : countText(least) + "+";
}

/* The end of the bin in which a share of all lies. */
function under(counts, all, share) {
    let sum = 0;
    for (let i = 0; i < counts.length; i++) {
        sum += counts[i];
        if (sum >= share * all) {
            return countText(2 ** i);
        }
    }
    return NONE;
}

function showStaleness(use) {
    const counts = ((use && use.staleness) || []).map(numeric);
    const all = counts.reduce((sum, each) => sum + each, 0);
    let end = counts.length;
    while (end > 1 && counts[end - 1] === 0) {
        end--;
    }
    let first = 0;
    while (first < end - 8 && counts[first] < 0.002 * all) {
        first++;
    }
    const most = Math.max(...counts, 1);
    const words = all ? "Half under " + under(counts, all, 0.5) + " versions, 90 % under " +
        under(counts, all, 0.9) + "." : "Nothing was trained on yet.";
    byId("staleness").setAttribute("aria-label", "Histogram of staleness. " + words);
    setText(byId("staleness-words"), words);
    fillList(byId("staleness"), all ? counts.slice(first, end) : [], () => make("div", "",
        make("div", "share"), make("div", "bar"), make("div", "name")), (element, value) => {
        const index = first + [...element.parentNode.children].indexOf(element);
        const share = value / all;
        setText(element.children[0], share >= 0.01 ? Math.round(100 * share) + "%" : "");
        element.children[1].style.height = 78 * value / most + "%";
        setText(element.children[2], binName(index));
        element.title = binName(index) + " versions behind: " + countText(value) + " rows";
    });
}

function parts(times, names, whole) {
    const told = names.map(([field, name, key]) => ({name, key,
        share: Math.max(0, ratio(times[field], whole))}));
    const sum = told.reduce((all, each) => all + (each.share || 0), 0);
    if (sum < 1) {
        told.push({name: "idle", key: 6, share: 1 - sum});
    }
    return told.map((each) => Object.assign(each, {share: each.share / Math.max(1, sum)}));
}

function showTime(time) {
    const roles = [];
    if (time && time.learner) {
        const whole = numeric(time.learner.training_s) + numeric(time.learner.waiting_s) +
            numeric(time.learner.publishing_s) + numeric(time.learner.exchange_s);
        roles.push(["Learner", time.learner, [["training_s", "training", 3],
            ["exchange_s", "exchanging gradients", 4], ["publishing_s", "publishing", 2], ["waiting_s", "waiting for samples", 1]], whole]);
    }
    if (time && time.actors) {
        roles.push(["Actors", time.actors, [["inference_s", "inference", 0],
            ["environment_s", "environment", 2], ["waiting_s", "waiting for the learner", 1],
            ["other_s", "other", 5]], time.actors.running_s]);
    }
    if (time && time.replay) {
        roles.push(["Replay", time.replay, [["inserting_s", "steps came", 5],
            ["sampling_s", "samples given", 0]], time.replay.running_s]);
    }
    fillList(byId("time"), roles.filter((role) => role[3] > 0), () => make("div"),
        (element, [name, times, names, whole]) => fillStack(element, name, durationText(whole),
            parts(times, names, whole)));
}

function showEnergy(energy) {
    if (!energy) {
        return;
    }
    const roles = (energy.roles || []).map((role, index) => ({name: role.role,
        key: [3, 0, 2, 5][index % 4], share: ratio(role.energy_j, energy.energy_j),
        text: energyText(role.energy_j)}));
    setText(byId("energy-words"), energyText(energy.energy_j) + " and " +
        durationText(energy.cpu_s) + " of processor time; " + numberText(energy.carbon_g) +
        " g CO₂e at " + numberText(energy.carbon_g_per_kwh) + " g/kWh (" + energy.carbon_of +
        "). " + (energy.source === "model" ?
        "Estimated by a model: not every process can read the same counters." :
        "Measured by " + energy.source + "."));
    fillList(byId("energy"), [0], () => make("div"), (element) => fillStack(element, "By role",
        energyText(energy.idle_j) + " idle beside it", roles));
}

function showBroadcast(learner) {
    const error = learner.quant_error || {};
    const gap = learner.precision_gap;
    const versions = numeric(learner.policy_versions);
    const packed = numeric(learner.broadcast_packed_bytes_fp32);
    fillFacts(byId("broadcast"), [
        ["Versions", countText(versions) + ", " +
            shareText(ratio(learner.policy_deltas, versions)) + " as changes"],
        ["Sent", bytesText(learner.broadcast_bytes)],
        ["In fp32, whole", bytesText(learner.broadcast_bytes_fp32)],
        packed > 0 ? ["In fp32, as changes", "about " + bytesText(packed) + ", compressed; " +
            numberText(ratio(packed, learner.broadcast_bytes)) + " times as much"] : null,
        ["A version", bytesText(ratio(learner.broadcast_bytes, versions))],
        error.rows ? ["Quantizing costs", shareText(error.cost) + " of what is at stake"] : null,
        error.rows ? ["Output error", "rms " + numberText(error.output_rms) + ", largest " +
            numberText(error.output_max)] : null,
        ["Fell back to fp32", countText(error.fallbacks || 0) + " versions, " +
            shareText(fallbackShare(learner))],
        gap ? ["Return less fp32", differenceText(gap.mean) + " ± " + returnText(gap.ci95) +
            " over " + gap.versions + " versions"] : null,
        ["Refused by the learner", countText(learner.rejected_messages) + " messages"],
    ]);
}

function showReplay(run, shards) {
    const use = run.status.learner.replay_use || {};
    const sum = (field) => shards.reduce((all, each) => all + numeric(each.replay[field] || 0), 0);
    const stored = sum("stored");
    const units = " " + run.plan.unit + "s";
    const share = Math.min(1, ratio(stored, run.plan.capacity));
    fillList(byId("replay-fill"), [0], () => make("div"), (element) => fillStack(element,
        countText(stored) + " of " + countText(run.plan.capacity) + units,
        bytesText(sum("bytes")), [{name: "stored", key: 5, share}]));
    const inserted = sum("inserted");
    /* As `inserted` is, in all lives of the stores; a shard's own sum begins anew at its start. */
    const sampled = shards.flatMap((each) => each.replay.tables || [])
        .filter((each) => each.name === run.plan.table)
        .reduce((all, each) => all + numeric(each.sampled), 0);
    fillFacts(byId("replay"), [
        ["Inserted", countText(inserted) + units + ", " + rateText(sum("insert_per_s")) + "/s"],
        ["Sampled", countText(sampled) + " items, " + rateText(sum("sample_per_s")) + "/s"],
        ["Samples a " + run.plan.unit, numberText(ratio(sampled, inserted)) +
            (run.plan.samples_per_insert > 0 ? " (" + numberText(run.plan.samples_per_insert) +
                " wanted)" : "")],
        ["An answer takes", millisecondsText(use.answer_ms_mean)],
        ["Learner waited for actors", durationText(use.waited_limiter_s)],
        ["… for answers", durationText(use.waited_answer_s)],
        ["… for a shard", durationText(numeric(use.waited_no_shard_s) +
            numeric(use.waited_trouble_s))],
        numeric(use.outdated) ? ["Too old, dropped", countText(use.outdated) + " steps"] : null,
        ["Repeats, gaps, refused", countText(sum("duplicates")) + ", " + countText(sum("gaps")) +
            ", " + countText(sum("rejected"))],
    ]);
}

function showRun(run) {
    const status = run.status;
    const learner = status.learner;
    fillFacts(byId("run"), [
        ["Run", run.run_id],
        ["Folder", status.run_dir],
        ["Wall time", durationText(learner.wall_s)],
        ["This learner", durationText(status.uptime_s) + ", " + bytesText(status.resident_bytes)],
        ["Checkpoint", numeric(learner.checkpoint_step) ? "at learner step " +
            countText(learner.checkpoint_step) : "none yet"],
        ["Policy version", String(learner.policy_version)],
        ["Evaluations", countText(learner.evaluations)],
        ["Planned", run.plan.actors + " actors of " + run.plan.envs + " environments, " +
            run.plan.shards + (run.plan.shards === 1 ? " shard" : " shards")],
        ["Members", run.members_total + " here, " + countText(learner.members_joined) +
            " joined, " + countText(learner.members_lost) + " lost"],
        ["Software", "actorq " + status.software],
    ]);
}
