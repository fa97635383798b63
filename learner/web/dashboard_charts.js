/* Charts: dygraphs on canvases, with legends of our own in the page. */
const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600,
    43200, 86400, 172800, 604800];
const TICK_PX = 60;

/* Colours as the canvas needs them, whatever the theme is. */
const probe = document.createElement("span");
function colour(name) {
    if (!probe.isConnected) {
        probe.hidden = true;
        document.body.append(probe);
    }
    probe.style.color = "var(--" + name + ")";
    return getComputedStyle(probe).color;
}

function timeTicks(least, most, pixels) {
    const wanted = Math.max(2, pixels / TICK_PX);
    const step = TIME_STEPS.find((each) => (most - least) / each <= wanted) ||
        Math.ceil((most - least) / wanted / 604800) * 604800;
    const ticks = [];
    for (let at = Math.ceil(least / step) * step; at <= most; at += step) {
        ticks.push({v: at, label: tickText(at)});
    }
    return ticks;
}

/* Pointers move a mark and drag a stretch to look at; fingers are left to scroll the page. */
function interaction() {
    const model = Object.assign({}, Dygraph.defaultInteractionModel);
    for (const name of ["touchstart", "touchmove", "touchend"]) {
        delete model[name];
    }
    return model;
}

function drawCross(graph, name, context, x, y, ink, size) {
    context.strokeStyle = ink;
    context.lineWidth = 1.75;
    context.beginPath();
    context.moveTo(x - size, y - size);
    context.lineTo(x + size, y + size);
    context.moveTo(x - size, y + size);
    context.lineTo(x + size, y - size);
    context.stroke();
}

/* series: [{name, colour, dashed, dots, crosses, faint, text}]; the chart is made when there is something to
 * draw. */
class Chart {
    constructor(parent, title, series, options) {
        this.title = title;
        this.series = series;
        this.options = options || {};
        this.rows = [];
        this.graph = null;
        this.pointedX = null; /* where a pointer rests; null: nowhere */
        this.legend = make("div", "legend");
        this.plot = make("div", "plot", make("p", "empty", "Nothing to draw yet"));
        this.plot.setAttribute("role", "img");
        this.element = make("article", "card chart" + (this.options.large ? " large" : ""),
            make("h2", "", title), this.legend, this.plot);
        for (const each of series) {
            const mark = make("i", ["dots", "crosses", "dashed"].find((kind) => each[kind]) || "");
            mark.style.color = "var(--" + each.colour + ")";
            this.legend.append(make("span", "", mark, each.name + " ", make("b")));
        }
        parent.append(this.element);
    }

    valueText(each, value) {
        return each.text ? each.text(value) : numberText(value);
    }

    /* The values of a row, or the last there are. */
    showLegend(row) {
        this.series.forEach((each, index) => {
            let value = NaN;
            for (let i = row === undefined ? this.rows.length - 1 : row; i >= 0; i--) {
                const cell = this.rows[i] ? this.rows[i][index + 1] : null;
                const found = Array.isArray(cell) ? cell[1] : cell;
                if (found !== null && found !== undefined) {
                    value = found;
                    break;
                }
            }
            const entry = this.legend.children[index];
            entry.hidden = !this.rows.some((each) => each[index + 1] !== null);
            setText(entry.lastElementChild, this.valueText(each, value));
        });
    }

    describe() {
        this.plot.setAttribute("aria-label", this.title + ": " + this.series.map((each, index) =>
            this.legend.children[index].hidden ? "" : each.name + " " +
                this.legend.children[index].lastElementChild.textContent).filter(Boolean)
            .join(", "));
    }

    /* rows: [[x, value, ...], ...], null where there is none, [low, value, high] with bands. */
    draw(rows, byTime) {
        this.rows = rows;
        this.showLegend();
        this.describe();
        if (rows.length < 2 || [...this.legend.children].every((entry) => entry.hidden)) {
            this.clear();
            return;
        }
        const options = this.look(byTime);
        options.file = rows;
        if (this.graph) {
            this.graph.updateOptions(options);
            this.point();
            return;
        }
        this.plot.replaceChildren();
        this.graph = new Dygraph(this.plot, rows, options);
    }

    /* New rows take the mark away from where the pointer rests. */
    point() {
        const row = this.rows.findIndex((each) => each[0] === this.pointedX);
        if (row >= 0) {
            this.showLegend(row);
            this.graph.setSelection(row);
        }
    }

    look(byTime) {
        const series = {};
        for (const each of this.series) {
            series[each.name] = {
                color: colour(each.colour),
                strokeWidth: each.dots || each.crosses ? 0 : each.faint ? 1 : 1.75,
                drawPoints: Boolean(each.dots || each.crosses), pointSize: 3.5,
                drawPointCallback: each.crosses ? drawCross : null,
                strokePattern: each.dashed ? [5, 4] : null,
            };
        }
        const axis = {axisLineColor: colour("line"), axisLabelFontSize: 12, axisTickSize: 3};
        return {
            labels: ["x"].concat(this.series.map((each) => each.name)), series,
            customBars: Boolean(this.options.bands), fillAlpha: 0.16,
            stackedGraph: Boolean(this.options.stacked), connectSeparatedPoints: true,
            includeZero: Boolean(this.options.fromZero), logscale: Boolean(this.options.logscale),
            valueRange: this.options.valueRange || null, legend: "never", resizable: "passive",
            gridLineColor: colour("grid"), gridLineWidth: 1, highlightCircleSize: 3.5,
            interactionModel: this.model || (this.model = interaction()), xRangePad: 0,
            yRangePad: 6, rangeSelectorHeight: 0, animatedZooms: false,
            highlightCallback: (event, x, points, row) => {
                this.pointedX = x;
                this.showLegend(row);
            },
            unhighlightCallback: () => {
                this.pointedX = null;
                this.showLegend();
            },
            axes: {
                x: Object.assign({
                    drawGrid: false, pixelsPerLabel: TICK_PX,
                    ticker: byTime ? timeTicks : Dygraph.numericTicks,
                    axisLabelFormatter: byTime ? tickText : plain(countText),
                }, axis),
                y: Object.assign({
                    axisLabelWidth: 54, pixelsPerLabel: 32,
                    axisLabelFormatter: plain(this.options.axisText || placeText),
                }, axis, {axisLineColor: "transparent"}),
            },
        };
    }

    clear() {
        if (this.graph) {
            this.graph.destroy();
            this.graph = null;
            this.plot.replaceChildren(make("p", "empty", "Nothing to draw yet"));
        }
        this.rows = [];
        this.pointedX = null;
    }
}

/* Rows of several histories, each with times of its own: sorted, and one for each time. */
function mergeRows(parts, width) {
    const byX = new Map();
    for (const part of parts) {
        part.xs.forEach((x, index) => {
            if (x === null) {
                return;
            }
            if (!byX.has(x)) {
                byX.set(x, [x].concat(new Array(width).fill(null)));
            }
            const value = part.value(index);
            if (value !== null) {
                byX.get(x)[1 + part.column] = value;
            }
        });
    }
    return [...byX.values()].sort((a, b) => a[0] - b[0]);
}
