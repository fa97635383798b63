#!/usr/bin/env python3
"""Checks the house style (CONTRIBUTING.md) where a machine can.

Every rule holds for the whole tree, from the first commit, and has no list of old sinners. An
exception is a row of a table below, with its reason, so that it is reviewed like code.

    tools/tidy.py [ROOT]
"""

import os
import re
import sys

from source_tree import Findings, root_from_arguments, walk

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
COLUMNS_MAX = 100
MACROS_PER_KLOC_MAX = 3

# Named by a tool or a habit, so there may be one in every folder.
SHARED_NAMES = {"run", "meson.build", "README.md", ".gitignore", "Dockerfile", "__init__.py",
                "control", "kustomization.yaml"}

# Where the language asks for tabs: make.
TABBED = {"debian/rules"}

LINE_SUFFIXES = (".c", ".cpp", ".h", ".py", ".sh", ".proto", "meson.build", "/run", "/test")
BINARY_SUFFIXES = (".png", ".gif", ".npz", ".aq", ".bin", ".gz")

# Function: (rule text, where it may stand). Tests are free of those marked "product".
BANNED = {
    "product": (
        (r"gets|sprintf|vsprintf|strcpy|strcat|stpcpy|strncpy|strncat|strtok",
         "no bound, or a hidden state: snprintf, memcpy, strtok_r", ()),
        (r"ato[ifl]|atoll|strto(l|ul|ll|ull|f|d|ld|imax|umax)|[sf]?scanf",
         "text becomes a number in common/base/parse alone, which checks all of it",
         ("common/base/parse.c",)),
        (r"malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|strdup|strndup",
         "memory comes from aq_alloc, which tests can make fail", ("common/base/memory.c",)),
        (r"free", "aq_free, unless the block is a library's (FREED_BY_FREE)",
         ("common/base/memory.c",)),
        (r"assert", "AQ_ASSERT, which stays in every build", ()),
        (r"abort|exit|_exit|_Exit|quick_exit", "only a main ends the process",
         ("common/base/assert.c", "common/sys/process.c",  # as a signal does
          "common/net/nng_mend/nng_mend.c",  # before NNG hangs
          "bench/replay/bench_folder.c",  # as a signal would, once the folder is gone
          "*_main.c")),
        (r"v?fork|system|popen", "libuv spawns processes: NNG does not survive a fork", ()),
        (r"time|clock_gettime|gettimeofday|clock",
         "common/base/clock is the one place that reads clocks",
         ("common/base/clock.c",
          "bench/replay/bench_seal.c")),  # the processor time of another process
    ),
    "everywhere": (
        (r"s?rand|rand_r|s?random|[dln]rand48|srand48", "aq_rng, whose seed is printed", ()),
        (r"u?sleep|nanosleep|clock_nanosleep", "wait for the event, never for a time",
         ("common/net/nng_mend/nng_close.c",  # NNG tells nobody when a reply has left,
          "common/base/clock.c")),  # and an environment that failed, when it can be tried again
        (r"alloca", "the stack has no limit check", ()),
        (r"nng_fini", "aborts when a TLS connection ends late: common/net/nng_mend/README.md", ()),
        (r"strerror_l|gmtime|localtime|asctime|ctime|inet_ntoa", "not safe in threads", ()),
    ),
}

# Functions of libraries that give a block for free() to release: their callers may call it.
FREED_BY_FREE = re.compile(r"\b(json_dumps|open_memstream)\s*\(")

# int functions of a header whose result may be ignored: those that give back the code of a failure
# that they were told of, and those that only translate one.
MAY_BE_IGNORED = re.compile(r"aq_(\w+_)?fail(_\w+)?|aq_error_from_\w+")

# Who logs what a person reads: the programs and what their mains begin with.
LOGGERS = ("replay/", "actor/", "learner/", "cli/", "common/sys/daemon.c",
           "common/net/http/daemon_http.c", "common/net/daemon/")
EVENT_LIST = "docs/events.md"
HEAD_FIELDS = {"ts", "level", "role", "id", "event", "msg", "cut"}  # of every line

INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff"
    "\uffa0\ufff9-\ufffd\U000e0000-\U000e0fff]")
PROMISE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b(?!\s*\(?#\d+)")


def check_text(source, add):
    """What holds for every text file."""
    if source.bytes and not source.bytes.endswith(b"\n"):
        add(len(source.lines), "final-newline", "the last line has no end")
    if source.bytes.endswith(b"\n\n"):
        add(len(source.lines) - 1, "final-newline", "blank lines at the end")
    for number, line in enumerate(source.lines, 1):
        if line != line.rstrip():
            add(number, "trailing-blank", "blanks at the end of the line")
        if "\t" in line and source.path not in TABBED:
            add(number, "tab", "a tab; indentation is blanks")
        match = INVISIBLE.search(line.replace("\t", " "))
        if match:
            add(number, "invisible", f"an invisible character, U+{ord(match.group(0)):04X}")
        if PROMISE.search(line):
            add(number, "promise", "a promise without the number of its issue")
        if ("/" + source.path).endswith(LINE_SUFFIXES) and len(line) > COLUMNS_MAX:
            add(number, "columns", f"{len(line)} columns, more than {COLUMNS_MAX}")


def check_shape(source, add):
    """Size, top comment, comment style, header guard."""
    lines = len(source.lines) - 1
    if lines > FILE_LINES_MAX:
        add(FILE_LINES_MAX, "file-lines", f"{lines} lines, more than {FILE_LINES_MAX}")
    if not source.text.startswith("/*"):
        add(1, "top-comment", "a file begins with a comment that says what it is and why")
    for offset in source.line_comments:
        add(source.line_of(offset), "line-comment", "comments are /* */")
    if source.is_header:
        guard = "AQ_" + re.sub(r"\W", "_", source.path).upper()
        if not re.search(rf"^#ifndef {guard}\n#define {guard}\n", source.code, re.MULTILINE):
            add(1, "guard", f"the header guard is not {guard}")


def check_functions(source, add):
    """The length of each function, from its signature to its closing brace."""
    lines = source.code.split("\n")
    signature = None
    for number, line in enumerate(lines, 1):
        if line == "{":
            signature = number - 1
            while signature > 1 and lines[signature - 2].strip() and \
                    not re.search(r"[;}\\]$|^#", lines[signature - 2]):
                signature -= 1
        elif line.startswith("}") and signature is not None:
            length = number - signature + 1
            if length > FUNCTION_LINES_MAX:
                add(signature, "function-lines", f"{length} lines, more than {FUNCTION_LINES_MAX}")
            signature = None


def after_parentheses(code, offset):
    """The offset behind the parenthesis that closes the one at `offset`."""
    depth = 0
    for at in range(offset, len(code)):
        depth += {"(": 1, ")": -1}.get(code[at], 0)
        if depth == 0:
            return at + 1
    return len(code)


def check_braces(source, add):
    """Bodies always have braces."""
    code = re.sub(r"^[ \t]*#(?:.*\\\n)*.*", lambda match: re.sub(r"[^\n]", " ", match.group(0)),
                  source.code, flags=re.MULTILINE)
    for match in re.finditer(r"\b(if|for|while|switch)\s*\(|\belse\b", code):
        end = after_parentheses(code, match.end() - 1) if match.group(1) else match.end()
        follows = re.match(r"[\s\\]*(.)", code[end:end + 200])
        follows = follows.group(1) if follows else ""
        ends_a_do = match.group(1) == "while" and code[:match.start()].rstrip().endswith("}")
        else_if = not match.group(1) and re.match(r"\s*if\b", code[end:])
        if follows != "{" and not (ends_a_do and follows == ";") and not else_if:
            name = match.group(1) or "else"
            add(source.line_of(match.start()), "braces", f"{name} without braces")


def is_allowed(source, places):
    """Whether the file is one of the places; `*` stands for any beginning."""
    return any(source.path == place or place[0] == "*" and source.path.endswith(place[1:])
               for place in places)


def check_declarations(source, add):
    """A local is declared where it gets its value."""
    lines = source.code.split("\n")
    pattern = re.compile(r"( +)(?!return |goto |static )(?:\w+ )+\**(\w+);")
    for at, line in enumerate(lines):
        match = pattern.fullmatch(line)
        for later in lines[at + 1:] if match else ():
            if later.strip() and not later.startswith(match.group(1)):
                break
            if re.search(rf"\b{match.group(2)}\b", later):
                if later.startswith(f"{match.group(1)}{match.group(2)} = "):
                    add(at + 1, "declaration", f"{match.group(2)} gets its value further down, "
                                               "where it can be declared")
                break


def check_banned(source, add):
    """Calls that the house does without."""
    groups = ["everywhere"] if source.is_test else ["everywhere", "product"]
    calls = {}
    for match in re.finditer(r"(?<![\w.>])(\w+)\s*\(", source.code):
        calls.setdefault(match.group(1), []).append(match.start())
    for group in groups:
        for names, reason, places in BANNED[group]:
            if is_allowed(source, places) or names == "free" and FREED_BY_FREE.search(source.code):
                continue
            for name in filter(re.compile(names).fullmatch, calls):
                for start in calls[name]:
                    add(source.line_of(start), "banned", f"{name}(): {reason}")


def check_must_use(source, add):
    """A code that nobody looks at is no error handling."""
    pattern = r"^(?:static inline )?int\s+(aq_\w+)\s*\(([^;{]*)[;{]"
    for match in re.finditer(pattern, source.code, re.MULTILINE):
        if "AQ_MUST_USE" not in match.group(0) and not MAY_BE_IGNORED.fullmatch(match.group(1)):
            add(source.line_of(match.start()), "must-use",
                f"{match.group(1)} returns int: AQ_MUST_USE, or bool if it cannot fail")


def codes_of(sources):
    """The functions of headers that return a code: 0, or a negative AQ_E_."""
    return {name for source in sources if source.is_c and source.is_header
            for name in re.findall(r"^(?:static inline )?int (\w+)\([^;{]*?\)\s*AQ_MUST_USE",
                                   source.code, re.MULTILINE)}


def check_codes(source, codes, add):
    """A return code is compared: rc != 0, never rc or !rc alone."""
    for match in re.finditer(r"(!?)\b(rc|\w+(?=\())\b(?!->|[.\[])", source.code):
        is_call = source.code[match.end()] == "("
        if is_call and match.group(2) not in codes or not is_call and match.group(2) != "rc":
            continue
        end = after_parentheses(source.code, match.end()) if is_call else match.end()
        before = source.code[:match.start()].rstrip()[-16:]  # longer than what is looked for
        behind = source.code[end:].lstrip()
        is_operand = re.search(r"(\b(if|while) \(|&&|\|\|)$", before)
        if match.group(1) or \
                is_operand and re.match(r"\)|&&|\|\||\?|;", behind) or \
                re.search(r"(\breturn|[^=!<>]=|[(,])$", before) and \
                re.match(r"&&|\|\||\?", behind):
            add(source.line_of(match.start()), "code",
                f"{match.group(2)} is a return code: it is compared with 0")


def prose_lines(source):
    """(number, line) of a document, without what stands between ``` and ```."""
    is_code = False
    for number, line in enumerate(source.lines, 1):
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield number, line


def anchors_of(source):
    """What links may name of a document behind a #: its headings, as GitHub writes them."""
    anchors = set()
    for _, line in prose_lines(source):
        match = re.match(r"#+ (.*)", line)
        if match:
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match.group(1)).strip().lower()
            anchors.add(re.sub(r"[^\w\- ]", "", words).replace(" ", "-"))
    return anchors


def check_links(source, exists, anchors, add):
    """Links of a document lead to a file, and behind a # to a heading. `anchors` has documents'."""
    for match in re.finditer(r"\]\((?!\w+:)([^)#\s]*)(?:#([^)\s]*))?[^)]*\)", source.text):
        path, anchor = match.groups()
        target = os.path.normpath(os.path.join(source.folder, path)) if path else source.path
        if not exists(target):
            add(source.line_of(match.start()), "link", f"{path} does not exist")
        elif anchor and anchor not in anchors.get(target, {anchor}):
            add(source.line_of(match.start()), "link", f"{target} has no heading #{anchor}")


def check_tables(source, add):
    """A table whose rows have other cells than its head is text to readers, or loses some."""
    width = 0
    head = ""
    for number, line in prose_lines(source):
        cells = len(re.findall(r"(?<!\\)\|", line)) - 1 if line.startswith("|") else 0
        if width == 0 and cells > 0 and re.fullmatch(r"(\| *:?-+:? *)+\|", line):
            width = cells
            cells = len(re.findall(r"(?<!\\)\|", head)) - 1
        width = width if line.startswith("|") else 0
        head = line
        if width != 0 and cells != width:
            add(number, "table", f"{cells} cells where others have {width}")


def check_log(source, add, documented):
    """Libraries never log above debug; every event is in the operator's list."""
    for match in re.finditer(r"\baq_log(?:_limited\([^,]*,[^,]*,|\()\s*([^,;]+?)\s*,\s*",
                             source.code):
        line = source.line_of(match.start())
        levels = set(re.findall(r"AQ_LOG_\w+", match.group(1)))
        if levels - {"AQ_LOG_DEBUG"} and not source.path.startswith(LOGGERS):
            add(line, "log-level", "a library reports errors, its caller logs them")
        fields = fields_of(source.text, match.end()) if levels else []
        fields += ["suppressed"] * ("_limited" in match.group(0))
        for event in re.findall(r'"(\w+)"', arguments_of(source.text, match.end())[0]):
            if event not in documented:
                add(line, "log-event", f"{event} is not in {EVENT_LIST}")
                continue
            for field in fields:
                if field in HEAD_FIELDS:
                    add(line, "log-field", f"{field} is a field of every line")
                elif field not in documented[event]:
                    add(line, "log-field", f"{event}'s {field} is not in {EVENT_LIST}")


def arguments_of(text, start):
    """The arguments of a call from `start` on, up to the parenthesis that ends it."""
    arguments, argument, depth = [], "", 0
    for token in re.finditer(r'"(?:[^"\\]|\\.)*"|.', text[start:], re.DOTALL):
        part = token.group(0)
        if part == ")" and depth == 0:
            return arguments + [argument]
        depth += (part in "([{") - (part in ")]}") if len(part) == 1 else 0
        if part == "," and depth == 0:
            arguments.append(argument)
            argument = ""
        else:
            argument += part
    return arguments


def fields_of(text, start):
    """The keys of a log line's fields; `start` is where the event stands in its call."""
    arguments = arguments_of(text, start)
    literals = re.findall(r'"((?:[^"\\]|\\.)*)"', arguments[2]) if len(arguments) > 2 else []
    return re.findall(r"(\w+)=", "".join(literals))


def read_events(text):
    """The fields of each event in the list; an event may have several rows."""
    events = {}
    for name, fields in re.findall(r"^\| `(\w+)` \| \w+(?:, \w+)* \| ([^|]*) \|", text,
                                   re.MULTILINE):
        events.setdefault(name, set()).update(re.findall(r"`(\w+)`", fields))
    return events


def check_names(sources, findings):
    """File names are unique, so that a name alone finds its file."""
    seen = {}
    for source in sources:
        if source.name in seen and source.name not in SHARED_NAMES:
            findings.add(source.path, 1, "unique-name", f"the name of {seen[source.name]}, too")
        seen.setdefault(source.name, source.path)


def check_macros(sources, findings):
    """Few function-like macros: grep and the debugger lose them. Those with X make lists."""
    code_lines = sum(len(source.lines) for source in sources)
    macros = [(source.path, source.line_of(match.start()), match.group(1)) for source in sources
              for match in re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\((?!X\))", source.code,
                                       re.MULTILINE)]
    if len(macros) * 1000 > max(code_lines, 1000) * MACROS_PER_KLOC_MAX:
        for path, line, name in macros:
            findings.add(path, line, "macros", f"{name}: {len(macros)} function-like macros in "
                         f"{code_lines} lines, more than {MACROS_PER_KLOC_MAX} in a thousand")


def main():
    root = root_from_arguments()
    findings = Findings()
    sources = [source for source in walk(root) if not source.path.endswith(BINARY_SUFFIXES)]
    documented = read_events(next((source.text for source in sources
                                   if source.path == EVENT_LIST), ""))
    codes = codes_of(sources)
    anchors = {source.path: anchors_of(source) for source in sources
               if source.path.endswith(".md")}
    for source in sources:
        def add(line, rule, text, path=source.path):
            findings.add(path, line, rule, text)

        check_text(source, add)
        if source.path.endswith(".md"):
            check_links(source, lambda path: os.path.exists(os.path.join(root, path)), anchors,
                        add)
            check_tables(source, add)
        if not source.is_c:
            continue
        check_shape(source, add)
        check_functions(source, add)
        check_braces(source, add)
        check_banned(source, add)
        check_codes(source, codes, add)
        check_declarations(source, add)
        if source.is_test:
            continue
        if source.is_header:
            check_must_use(source, add)
        if not source.path.startswith("common/sys/log."):
            check_log(source, add, documented)
    check_names(sources, findings)
    check_macros([s for s in sources if s.is_c and not s.is_test], findings)
    return findings.finish("tidy", f"{len(sources)} files")


if __name__ == "__main__":
    sys.exit(main())
