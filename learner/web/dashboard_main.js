/* Asking the learner, again and again, and what the buttons do. */
const PATIENCE_MS = 5000;
const SEEN_MS = 1000;
const HIDDEN_MS = 10000;
const RETRY_MS_MAX = 5000;
const HISTORY_PATHS = {minutes: "api/history/minutes", hour: "api/history/hour",
    run: "api/history"};

const state = {
    run: null, history: null, span: "run", axis: "time", answeredAt: 0, failures: 0,
    historyAt: -Infinity, timer: 0, asking: false,
};

async function ask(path) {
    const control = new AbortController();
    const timer = setTimeout(() => control.abort(), PATIENCE_MS);
    try {
        const answer = await fetch(path, {signal: control.signal, cache: "no-store"});
        if (!answer.ok) {
            throw new Error("status " + answer.status);
        }
        return await answer.json();
    } finally {
        clearTimeout(timer);
    }
}

function byTime() {
    return state.axis === "time";
}

function drawAll() {
    if (state.history && state.run) {
        const moves = stepsMove(state.history.progress);
        document.querySelector("[data-axis=steps]").disabled = !moves;
        drawCurves(state.history, byTime() || !moves, numeric(state.run.plan.threshold));
    }
}

/* As often as the newest point moves by about a pixel. */
function historyPeriodMs() {
    const wall = state.run ? numeric(state.run.status.learner.wall_s) : 0;
    const seconds = {minutes: 1, hour: 5, run: Math.min(30, wall / 400)}[state.span];
    return 1000 * Math.max(1, seconds);
}

async function refreshHistory() {
    const span = state.span;
    state.historyAt = performance.now();
    const history = await ask(HISTORY_PATHS[span]);
    if (span === state.span) {
        state.history = history;
        drawAll();
    }
}

function showAll(run) {
    const shards = showMembers(run);
    showHead(run);
    showVerdict(run);
    showTiles(run);
    showStaleness(run.status.learner.replay_use);
    showTime(run.time);
    showEnergy(run.status.learner.energy);
    showBroadcast(run.status.learner);
    showReplay(run, shards);
    showRun(run);
}

function showPresence() {
    const away = byId("away");
    const lost = state.failures > 0;
    const ended = state.run && state.run.status.state !== "RUN_STATE_RUNNING";
    document.body.classList.toggle("is-away", lost && !ended);
    away.hidden = !lost;
    byId("live").dataset.level = lost ? (ended ? "note" : "bad") : state.run ? "good" : "note";
    setText(byId("live"), lost ? "no answer" : state.run ? "live" : "connecting");
    if (!lost) {
        return;
    }
    away.dataset.level = ended ? "note" : "bad";
    const since = state.answeredAt ? new Date(state.answeredAt).toLocaleTimeString() : "";
    setText(away, !state.run ? "The learner does not answer; trying again." :
        ended ? "The run is over and its learner has left. This is how it stood at " + since + "." :
            "No answer from the learner since " + since + ". It has ended, or cannot be reached. " +
            "Trying again.");
}

function takeRun(run) {
    if (state.run && state.run.run_id !== run.run_id) {
        state.history = null;
        state.historyAt = -Infinity;
        clearCharts();
        forgetMetricCharts();
    }
    makeMetricCharts(run.status.learner.metrics || []);
    state.run = run;
    state.answeredAt = Date.now();
    showAll(run);
}

async function refresh() {
    if (state.asking) {
        return;
    }
    state.asking = true;
    clearTimeout(state.timer);
    try {
        takeRun(await ask("api/run"));
        if (performance.now() - state.historyAt >= historyPeriodMs() - 50) {
            await refreshHistory();
        }
        state.failures = 0;
    } catch (error) {
        state.failures++;
        state.historyAt = -Infinity;
        if (error instanceof TypeError || error.name === "AbortError") {
            console.info("no answer: " + error.message);
        } else {
            console.error(error);
        }
    }
    showPresence();
    state.asking = false;
    const pause = document.hidden ? HIDDEN_MS : SEEN_MS;
    state.timer = setTimeout(refresh, state.failures ? Math.min(RETRY_MS_MAX,
        500 * 2 ** Math.min(state.failures, 4)) : pause);
}

/* ---- buttons ---- */

function press(kind, value) {
    state[kind] = value;
    for (const button of document.querySelectorAll("[data-" + kind + "]")) {
        button.setAttribute("aria-pressed", String(button.dataset[kind] === value));
    }
    clearCharts();
}

function listenToButtons() {
    for (const button of document.querySelectorAll("[data-span]")) {
        button.addEventListener("click", () => {
            press("span", button.dataset.span);
            refreshHistory().catch(() => { state.historyAt = -Infinity; });
        });
    }
    for (const button of document.querySelectorAll("[data-axis]")) {
        button.addEventListener("click", () => {
            press("axis", button.dataset.axis);
            drawAll();
        });
    }
}

/* ---- colours ---- */

const THEMES = ["automatic", "light", "dark"];

function remembered() {
    try {
        return localStorage.getItem("actorq-theme");
    } catch (error) {
        return null; /* not allowed here: automatic then */
    }
}

function setTheme(theme) {
    if (theme === "automatic") {
        delete document.documentElement.dataset.theme;
    } else {
        document.documentElement.dataset.theme = theme;
    }
    setText(byId("theme"), "Colours: " + theme);
    drawAll();
}

function listenToTheme() {
    let theme = THEMES.includes(remembered()) ? remembered() : "automatic";
    setTheme(theme);
    byId("theme").addEventListener("click", () => {
        theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
        try {
            localStorage.setItem("actorq-theme", theme);
        } catch (error) {
            console.info("the choice cannot be remembered: " + error.message);
        }
        setTheme(theme);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
}

makeCharts();
listenToTheme();
listenToButtons();
document.addEventListener("visibilitychange", () => {
    if (!document.hidden) {
        refresh();
    }
});
refresh();
