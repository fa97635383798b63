/* Who is in the run. */
const SILENT_BEATS = 3;

const SHARD_COLUMNS = [
    {name: "Slot"}, {name: "Host", text: true}, {name: "Last seen"}, {name: "Stored"},
    {name: "Inserted/s"}, {name: "Sampled/s"}, {name: "Memory"}, {name: "Disk"},
    {name: "State", text: true},
];
const MEMBER_COLUMNS = [
    {name: "Role", text: true}, {name: "Slot"}, {name: "Host", text: true},
    {name: "Address", text: true}, {name: "Last seen"}, {name: "Version"}, {name: "Steps/s"},
    {name: "Steps"}, {name: "Episodes"}, {name: "Return"}, {name: "Without credit"},
    {name: "Memory"},
];

function seenCell(member, plan) {
    const silent = numeric(member.heartbeat_ms) > SILENT_BEATS * plan.heartbeat_ms;
    return {text: durationText(numeric(member.heartbeat_ms) / 1000), dot: true,
        level: silent ? "attention" : "good", title: "process " + member.pid + ", here for " +
            durationText(numeric(member.joined_ms) / 1000)};
}

function shardRow(member, plan) {
    const replay = member.replay || {};
    const state = replay.stuck ? {text: "cannot write: " + replay.stuck, level: "bad",
        title: replay.stuck} : replay.waiting ? {text: replay.waiting + " for " +
            durationText(replay.waiting_s), title: replay.waiting} : "at work";
    return [String(member.slot), {text: member.host, title: member.address}, seenCell(member, plan),
        countText(replay.stored), rateText(replay.insert_per_s), rateText(replay.sample_per_s),
        bytesText(replay.resident_bytes), bytesText(replay.disk_bytes), state];
}

function memberRow(member, plan, newest) {
    const actor = member.actor || {};
    const behind = newest - numeric(actor.policy_version);
    return [ROLES[member.role] || "unknown", String(member.slot), {text: member.host,
        title: member.host}, {text: member.address, title: member.address}, seenCell(member, plan),
    behind > 0 ? actor.policy_version + " (−" + countText(behind) + ")" :
        String(actor.policy_version || 0),
    rateText(actor.steps_per_s), countText(actor.env_steps), countText(actor.episodes),
    returnText(actor.return_mean), member.role === "ROLE_ACTOR" ?
        shareText(ratio(numeric(actor.waits_ms) / 1000, actor.running_s)) : NONE,
    bytesText(actor.resident_bytes)];
}

function showMembers(run) {
    const members = run.status.members || [];
    const bySlot = (a, b) => a.slot - b.slot;
    const shards = members.filter((each) => each.role === "ROLE_REPLAY").sort(bySlot);
    const others = members.filter((each) => each.role !== "ROLE_REPLAY").sort((a, b) =>
        a.role === b.role ? a.slot - b.slot : a.role < b.role ? 1 : -1);
    const newest = numeric(run.status.learner.policy_version);
    fillTable(byId("shards"), SHARD_COLUMNS, shards.map((each) => shardRow(each, run.plan)));
    fillTable(byId("members"), MEMBER_COLUMNS, others.map((each) => memberRow(each, run.plan,
        newest)));
    const words = byId("members-words");
    words.hidden = members.length >= run.members_total;
    setText(words, members.length + " of " + run.members_total + " members are shown: shards, " +
        "evaluators, and the actors that have been silent for longest.");
    return shards.filter((each) => each.replay);
}
