"""What the programs say of themselves, read back from `--help` and `--print-config`.

The option tables in C are the one place where options are written down. The manual pages and the
completions are made from what the programs print of them, so that they cannot go out of date.
"""

import os
import re
import subprocess

OPTION = re.compile(r"^ {2}(?:-(?P<short>\w), | {4})--(?P<name>[\w-]+)"
                    r"(?:\[=(?P<form>\w+)\]| (?P<value>\S+))?"
                    r"(?: {2,}(?P<help>\S.*))?$")
COMMAND = re.compile(r"^ {2}(?P<name>[a-z][\w-]*) {2,}(?P<summary>\S.*)$")
BUILT_IN = ("help", "version")


class Option:
    """One row of an option table."""

    def __init__(self, match):
        self.short, self.name, self.value = match["short"], match["name"], match["value"]
        self.form = match["form"]  # of --name=form, beside --name alone
        self.help = match["help"] or ""


class Page:
    """One help page. `program` is "actorq" or "actorq replay export"; a page has options or
    commands, which are pages again."""

    def __init__(self, words, text):
        self.program = " ".join(words)
        self.text = text
        self.usage, self.summary, self.details = "", [], []
        self.options, self.commands = [], []

    def walk(self):
        """This page, and those of all commands below it."""
        yield self
        for command, _ in self.commands:
            yield from command.walk()


def run(program, *words):
    """What a program prints. Its environment is bare, so that everybody builds the same pages."""
    environment = {name: os.environ[name] for name in ("PATH", "HOME", "LD_LIBRARY_PATH")
                   if name in os.environ}
    done = subprocess.run([program, *words], env={**environment, "LC_ALL": "C"}, check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, encoding="utf-8")
    if done.returncode != 0:
        raise SystemExit(f"{' '.join([program, *words])}: exit status {done.returncode}")
    return done.stdout


def paragraphs(lines):
    """Blocks of lines that are not empty."""
    block = []
    for line in [*lines, ""]:
        if line.strip():
            block.append(line)
        elif block:
            yield block
            block = []


def read_options(page, lines):
    """Takes the rows after "Options:"; what follows the next empty line is left."""
    for place, line in enumerate(lines):
        match = OPTION.match(line)
        if match:
            page.options.append(Option(match))
        elif line.strip():
            page.options[-1].help = f"{page.options[-1].help} {line.strip()}".strip()
        else:
            return lines[place + 1:]
    return []


def read_commands(path, page, words, lines):
    """Takes the rows after "Commands:", of a page that has options as well; the rest is left."""
    if not lines or lines[0] != "Commands:":
        return lines
    rows = [COMMAND.match(line) for line in lines[1:]]
    count = next((place for place, row in enumerate(rows) if not row), len(rows))
    page.commands = [(read_page(path, [*words, row["name"]]), row["summary"])
                     for row in rows[:count]]
    return lines[count + 2:]


def read_page(path, words):
    """The page of a program, or of the command of it that the words name, with all below it."""
    text = run(path, *words[1:], "--help")
    page = Page(words, text)
    lines = text.rstrip("\n").split("\n")
    prefix = f"usage: {page.program} "
    if not lines[0].lower().startswith(prefix):
        raise SystemExit(f"{page.program} --help begins with {lines[0]!r}")
    page.usage = lines[0][len(prefix):]
    rest = lines[1:]
    if "Options:" in rest:
        start = rest.index("Options:")
        page.summary = [" ".join(block) for block in paragraphs(rest[:start])]
        page.details = read_commands(path, page, words, read_options(page, rest[start + 1:]))
        return page
    for block in paragraphs(rest):
        rows = [COMMAND.match(line) for line in block]
        if all(rows):
            page.commands = [(read_page(path, [*words, row["name"]]), row["summary"])
                             for row in rows]
        elif page.commands:
            page.details += ([""] if page.details else []) + block
        else:
            page.summary.append(" ".join(block))
    return page


def read_program(path):
    """The page of the program in that file."""
    return read_page(path, [os.path.basename(path)])


class Setting:
    """One setting of a run. `allowed` is a text such as "1 to 64 steps, default 3"."""

    def __init__(self, key, comment):
        self.key = key
        self.allowed = comment.pop()
        self.meaning = " ".join(comment)


def read_settings(actorq):
    """Every setting, in the order of the printed configuration."""
    settings, section, comment = [], "", []
    for line in run(actorq, "train", "--print-config").split("\n"):
        text = line.strip()
        if text.startswith("#"):
            comment.append(text[1:].strip())
        elif text.endswith(":") and not comment:
            section = text
        elif text:
            key = text.split(":")[0]
            settings.append(Setting(section.replace(":", ".") + key if line[0] == " " else key,
                                    comment))
            comment = []
    return settings
