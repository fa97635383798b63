/* What the charts show, out of a history document: see learner/metrics/run_history.c for its columns. */
const curves = {};

/* Those of the algorithm's metrics, by their names, and where they stand in the page. */
const metricCharts = new Map();
let metricsPlace = null;

function makeCharts() {
    const parent = byId("charts");
    curves.return = new Chart(parent, "Return", [
        {name: "as broadcast", colour: "c0", text: returnText},
        {name: "confirmed", colour: "c2", dots: true, text: returnText},
        {name: "fell back to fp32", colour: "c4", crosses: true, text: returnText},
        {name: "in fp32", colour: "c1", dashed: true, faint: true, text: returnText},
        {name: "while exploring", colour: "soft", faint: true, text: returnText},
        {name: "solved at", colour: "c2", dashed: true, faint: true, text: returnText},
    ], {large: true, bands: true});
    curves.waits = new Chart(parent, "Who waits for whom", [
        {name: "learner for samples", colour: "c3", text: shareText},
        {name: "actors for the learner", colour: "c0", text: shareText},
    ], {valueRange: [0, 1.02], axisText: shareText});
    curves.env = new Chart(parent, "Environment steps per second",
        [{name: "steps/s", colour: "c0", text: rateText}], {fromZero: true});
    curves.learner = new Chart(parent, "Learner steps per second",
        [{name: "steps/s", colour: "c3", text: rateText}], {fromZero: true});
    curves.samples = new Chart(parent, "Items sampled from replay per second",
        [{name: "items/s", colour: "c5", text: rateText}], {fromZero: true});
    curves.error = new Chart(parent, "What quantizing costs",
        [{name: "of what is at stake", colour: "c4", text: shareText}],
        {fromZero: true, axisText: shareText});
    curves.bytes = new Chart(parent, "Policy bytes broadcast per second", [
        {name: "sent", colour: "c0", text: bytesText},
        {name: "in fp32", colour: "c1", dashed: true, text: bytesText},
    ], {fromZero: true, axisText: bytesText});
    curves.staleness = new Chart(parent, "Staleness of what is trained on",
        [{name: "versions", colour: "c5"}], {fromZero: true});
    metricsPlace = make("div", "metrics");
    parent.append(metricsPlace);
    curves.power = new Chart(parent, "Power by role", [
        {name: "learner", colour: "c3", text: wattText},
        {name: "actors", colour: "c0", text: wattText},
        {name: "evaluator", colour: "c2", text: wattText},
        {name: "replay", colour: "c5", text: wattText},
    ], {fromZero: true, stacked: true, axisText: wattText});
}

/* A chart for each metric that the algorithm tells of; see learner/algorithms/metric.h. */
function makeMetricCharts(metrics) {
    metrics.forEach((metric, index) => {
        if (metricCharts.has(metric.name)) {
            return;
        }
        const title = metric.title[0].toUpperCase() + metric.title.slice(1) +
            (metric.unit ? ", " + metric.unit : "");
        const chart = new Chart(metricsPlace, title,
            [{name: metric.title, colour: index % 2 ? "c3" : "c4"}],
            {logscale: metric.is_logarithmic, axisText: numberText});
        chart.element.title = metric.meaning;
        metricCharts.set(metric.name, chart);
    });
}

/* Another run may be of another algorithm. */
function forgetMetricCharts() {
    metricCharts.clear();
    metricsPlace.replaceChildren();
}

function clearCharts() {
    Object.values(curves).concat([...metricCharts.values()]).forEach((chart) => chart.clear());
}

function wattText(value) {
    value = numeric(value);
    return Number.isFinite(value) ? numberText(value, 3) + " W" : NONE;
}

/* The difference of a sum's neighbours over that of another's; null where it has no meaning, as
 * when the run was resumed or a member left. */
function slope(sums, over, index) {
    if (index === 0) {
        return null;
    }
    const rise = sums[index] === null || sums[index - 1] === null ? NaN :
        sums[index] - sums[index - 1];
    const run = over[index] - over[index - 1];
    return run > 0 && rise >= 0 ? rise / run : null;
}

function plainRows(xs, columns) {
    return mergeRows(columns.map((value, column) => ({xs, column, value})), columns.length);
}

function bandOf(evaluations) {
    return (index) => {
        const mean = evaluations.return[index];
        const std = evaluations.std[index] || 0;
        const least = evaluations.least[index];
        const most = evaluations.most[index];
        return mean === null ? null : [Math.max(mean - std, least === null ? -Infinity : least),
            mean, Math.min(mean + std, most === null ? Infinity : most)];
    };
}

function triple(value) {
    return value === null || value === undefined ? null : [value, value, value];
}

function drawReturn(history, xOf, byTime, threshold) {
    const {progress, screened, confirmed, fell_back: fellBack, compared} = history;
    const rows = mergeRows([
        {xs: xOf(screened), column: 0, value: bandOf(screened)},
        {xs: xOf(confirmed), column: 1, value: (i) => triple(confirmed.return[i])},
        {xs: xOf(fellBack), column: 2, value: (i) => triple(fellBack.return[i])},
        {xs: xOf(compared), column: 3, value: (i) => triple(compared.return_fp32[i])},
        {xs: xOf(progress), column: 4, value: (i) => triple(progress.training_return[i])},
    ], 6);
    if (Number.isFinite(threshold) && rows.length > 1) {
        rows[0][6] = triple(threshold);
        rows[rows.length - 1][6] = triple(threshold);
    }
    curves.return.draw(rows, byTime);
}

/* They stand still where a data set is all there is to learn from. */
function stepsMove(progress) {
    return progress.env_steps.some((each) => each !== progress.env_steps[0]);
}

function drawCurves(history, byTime, threshold) {
    const progress = history.progress;
    const xOf = (part) => byTime ? part.wall_s : part.env_steps;
    const xs = xOf(progress);
    const wall = progress.wall_s;
    const of = (column) => (index) => progress[column][index];
    const draw = (name, ...columns) => curves[name].draw(plainRows(xs, columns), byTime);
    drawReturn(history, xOf, byTime, threshold);
    draw("env", of("env_rate"));
    draw("learner", of("learner_rate"));
    draw("samples", of("sample_rate"));
    draw("waits", of("learner_waits"), (i) => {
        const share = slope(progress.actors_waited_s, progress.actors_ran_s, i);
        return share === null ? null : Math.min(1, share);
    });
    draw("error", of("cost"));
    draw("bytes", (i) => slope(progress.bytes, wall, i),
        (i) => slope(progress.bytes_fp32, wall, i));
    draw("staleness", of("staleness"));
    for (const [name, chart] of metricCharts) {
        const values = progress[name] || [];
        const shown = (i) => values[i] === undefined ||
            (chart.options.logscale && !(values[i] > 0)) ? null : values[i];
        chart.draw(plainRows(xs, [shown]), byTime);
    }
    draw("power", ...["learner_j", "actor_j", "evaluator_j", "replay_j"].map((column) => (i) =>
        slope(progress[column], wall, i)));
}
