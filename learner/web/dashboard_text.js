/* Figures as short texts, the same as in `actorq status`. What is no number is "–". */
const NONE = "–";

/* Numbers of the learner's JSON: those that JSON does not know come as texts or null. */
function numeric(value) {
    return value === null || value === undefined || value === "" ? NaN : Number(value);
}

/* The limits are where rounding would give "1000". */
function scaled(value, units) {
    let unit = 0;
    while (Math.abs(value) >= (unit === 0 ? 999.5 : 999.95) && unit < units.length - 1) {
        value /= 1000;
        unit++;
    }
    return value.toFixed(unit === 0 ? 0 : 1) + units[unit];
}

function countText(value) {
    value = numeric(value);
    return Number.isFinite(value) ? scaled(value, ["", "k", "M", "G", "T"]) : NONE;
}

/* On an axis, where ".0" says nothing. */
function plain(text) {
    return (value) => text(value).replace(/\.0(?=\D|$)/, "");
}

/* As exact as neighbours on an axis differ. */
function placeText(value) {
    return Math.abs(value) < 1e4 ? numberText(value) : countText(value);
}

function rateText(value) {
    value = numeric(value);
    return Number.isFinite(value) && value < 10 && value > 0 ?
        String(Number(value.toPrecision(2))) : countText(value);
}

function bytesText(value) {
    value = numeric(value);
    return Number.isFinite(value) ? scaled(value, [" B", " kB", " MB", " GB", " TB", " PB"]) : NONE;
}

function shareText(value) {
    value = numeric(value);
    if (!Number.isFinite(value)) {
        return NONE;
    }
    const percent = 100 * value;
    return (percent >= 99.5 && percent < 100 ? Math.min(percent, 99.9).toFixed(1) :
        Math.abs(percent) < 10 ? String(Number(percent.toPrecision(2))) :
        percent.toFixed(0)) + " %";
}

function numberText(value, digits) {
    value = numeric(value);
    if (!Number.isFinite(value)) {
        return NONE;
    }
    const size = Math.abs(value);
    return size !== 0 && (size >= 1e5 || size < 1e-3) ? value.toExponential(2) :
        String(Number(value.toPrecision(digits || 4)));
}

function returnText(value) {
    value = numeric(value);
    return Number.isFinite(value) ? (value !== 0 && Math.abs(value) < 1 ?
        String(Number(value.toPrecision(3))) : value.toFixed(1)).replace(/^-/, "\u2212") : NONE;
}

function differenceText(value) {
    return (value > 0 ? "+" : "") + returnText(value);
}

/* "4.2 s", "3 min 20 s", "2 h 05 min", "3 d 04 h" */
function durationText(seconds) {
    seconds = numeric(seconds);
    if (!Number.isFinite(seconds)) {
        return NONE;
    }
    const two = (value) => String(value).padStart(2, "0");
    if (seconds < 10) {
        return (seconds === 0 ? "0" : seconds.toFixed(1)) + " s";
    }
    const whole = Math.round(seconds);
    if (whole < 60) {
        return whole + " s";
    }
    if (whole < 3600) {
        return Math.floor(whole / 60) + " min " + two(whole % 60) + " s";
    }
    const minutes = Math.floor(whole / 60);
    if (minutes < 1440) {
        return Math.floor(minutes / 60) + " h " + two(minutes % 60) + " min";
    }
    const hours = Math.floor(minutes / 60);
    return Math.floor(hours / 24) + " d " + two(hours % 24) + " h";
}

function millisecondsText(value) {
    value = numeric(value);
    return value < 1000 ? numberText(value, 3) + " ms" : durationText(value / 1000);
}

/* A place on an axis of time: "40 s", "5 min", "1:30 h", "2 d" */
function tickText(seconds) {
    if (seconds === 0) {
        return "0";
    }
    if (seconds < 60 || seconds % 60 !== 0) {
        return seconds < 60 ? seconds + " s" :
            Math.floor(seconds / 60) + ":" + String(seconds % 60).padStart(2, "0");
    }
    const minutes = seconds / 60;
    if (minutes < 60) {
        return minutes + " min";
    }
    if (seconds % 86400 === 0) {
        return seconds / 86400 + " d";
    }
    return Math.floor(minutes / 60) + (minutes % 60 ? ":" + String(minutes % 60).padStart(2, "0") :
        "") + " h";
}

function energyText(joules) {
    joules = numeric(joules);
    return joules >= 3.6e5 ? numberText(joules / 3.6e6) + " kWh" :
        joules >= 1000 ? numberText(joules / 1000, 3) + " kJ" :
            Number.isFinite(joules) ? numberText(joules, 3) + " J" : NONE;
}
