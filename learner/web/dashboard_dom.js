/* The document. Whatever a member said of itself gets in as text, never as markup. */
function byId(id) {
    return document.getElementById(id);
}

/* make("p", "soft", "some text") or with elements */
function make(tag, classes, ...parts) {
    const element = document.createElement(tag);
    if (classes) {
        element.className = classes;
    }
    element.append(...parts);
    return element;
}

function setText(element, text) {
    if (element.textContent !== text) {
        element.textContent = text;
    }
}

/* As many children as there are rows: made when they are missing, then filled. */
function fillList(parent, rows, create, fill) {
    while (parent.children.length > rows.length) {
        parent.lastElementChild.remove();
    }
    rows.forEach((row, index) => {
        if (index === parent.children.length) {
            parent.append(create(row));
        }
        fill(parent.children[index], row);
    });
}

/* rows: [[term, description], ...] */
function fillFacts(list, rows) {
    const cells = rows.filter((row) => row).flat();
    fillList(list, cells.map((text, index) => [index % 2 ? "dd" : "dt", text]),
        ([tag]) => document.createElement(tag), (cell, [, text]) => setText(cell, text));
}

/* columns: [{name, text}], text for what is not a figure; rows: [[cell, ...]], a cell a text or
 * {text, level, dot, title}. */
function fillTable(table, columns, rows) {
    if (!table.tHead) {
        const line = table.createTHead().insertRow();
        for (const column of columns) {
            const cell = make("th", column.text ? "text" : "", column.name);
            cell.scope = "col";
            line.append(cell);
        }
        table.createTBody();
    }
    fillList(table.tBodies[0], rows, () => {
        const line = document.createElement("tr");
        columns.forEach(() => line.append(document.createElement("td")));
        return line;
    }, (line, row) => row.forEach((cell, index) =>
        fillCell(line.children[index], columns[index], cell)));
}

function fillCell(element, column, cell) {
    const told = typeof cell === "object" ? cell : {text: cell};
    const level = told.level && told.level !== "good" ? told.level : "";
    element.className = (column.text ? "text " : "") + level;
    element.title = told.title || "";
    if (!told.dot) {
        setText(element, told.text);
        return;
    }
    if (!element.firstElementChild) {
        element.replaceChildren(make("span", "dot"));
    }
    element.firstElementChild.dataset.level = told.level || "good";
    setText(element.firstElementChild, told.text);
}

/* A bar of shares. parts: [{name, share, key}] */
function fillStack(element, head, more, parts) {
    if (!element.firstElementChild) {
        element.className = "stack";
        element.append(make("div", "head", make("span"), make("span")), make("div", "strip"),
            make("div", "keys"));
    }
    const [title, strip, keys] = element.children;
    setText(title.children[0], head);
    setText(title.children[1], more);
    const seen = parts.filter((part) => part.share > 0);
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", head + ": " +
        seen.map((part) => part.name + " " + shareText(part.share)).join(", "));
    fillList(strip, seen, () => make("div"), (bar, part) => {
        bar.className = "k" + part.key;
        bar.style.width = 100 * part.share + "%";
    });
    fillList(keys, seen, () => make("span", "", make("i"), make("span")), (key, part) => {
        key.firstElementChild.className = "k" + part.key;
        setText(key.lastElementChild, part.name + " " + (part.text || shareText(part.share)));
    });
}
