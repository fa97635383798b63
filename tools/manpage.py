#!/usr/bin/env python3
"""Makes manual pages (mdoc) from templates and from what the programs say of themselves.

    tools/manpage.py TEMPLATE OUTPUT VERSION PROGRAM...    a page
    tools/manpage.py --commands FOLDER VERSION PROGRAM     a page for each command of the program

A line of the template that begins with @ stands for more:

    @OPTIONS NAME     the options of a program
    @COMMANDS NAME    a list of its commands, each of which has a page
    @EXAMPLES NAME    what its help says after the options
    @SETTINGS         every setting of a run
    @VERSION          the name and version, for the foot of the page
    @INCLUDE FILE     another template beside this one
"""

import os
import re
import shutil
import sys
import textwrap

import help_pages

LINE_MAX = 72
DATE = "November 22, 2026"  # of the pages that have no template
SENTENCE_END = re.compile(r"""(?<=[\w)"'][.?!]) +(?=\w)""")
LONG_OPTION = re.compile(r"(?<![\w-])--(?=\w)")
SPECIAL = {"\\": "\\e", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", '"': "\\(dq"}


def escape(text):
    """One line of text, in which nothing means anything to the formatter."""
    text = "".join(SPECIAL.get(letter, letter) for letter in text)
    text = LONG_OPTION.sub("\\-\\-", text)
    return "\\&" + text if text.startswith(".") else text


def wrap(text):
    """The text in lines that are short enough to read in the source."""
    return textwrap.wrap(text, LINE_MAX, break_long_words=False, break_on_hyphens=False)


def prose(text):
    """Running text; each sentence begins a line."""
    return [escape(line) for sentence in SENTENCE_END.split(text) for line in wrap(sentence)]


def literal(lines):
    """Lines as they are, such as examples."""
    text = [escape(line).replace(" -", " \\-") if line else "" for line in lines]
    while text and not text[0]:
        text.pop(0)
    return [".Bd -literal -compact", *text, ".Ed"]


def is_example(block):
    """Whether a paragraph of the help is a list of commands to type."""
    return all(line.startswith("  ") for line in block[1:]) and len(block) > 1


def render_details(lines):
    """Examples as such, everything else as text."""
    out = []
    for block in help_pages.paragraphs(lines):
        if is_example(block):
            out += [".Pp", *prose(block[0]), ".Pp", *literal(block[1:])]
        else:
            out += [".Pp", *prose(" ".join(line.strip() for line in block))]
    return out


def render_examples(lines):
    """The examples alone, as a section of their own."""
    return [line for block in help_pages.paragraphs(lines) if is_example(block)
            for line in literal(block[1:])]


def render_option(option):
    """The row of a list."""
    value = f" Ar {escape(option.value)}" if option.value else \
            f" Ns Op = Ns Cm {option.form}" if option.form else ""
    short = f"Fl {option.short} , " if option.short else ""
    return [f".It {short}Fl \\-{option.name}{value}", *prose(option.help)]


def render_options(page, built_in):
    """A list, without the options that all programs have if `built_in` is false."""
    rows = [option for option in page.options if built_in or option.name not in
            help_pages.BUILT_IN]
    out = [".Bl -tag -width Ds"]
    for option in rows:
        out += render_option(option)
    return [*out, ".El"] if rows else []


def leaves(page):
    """The commands below a page that can be given themselves, each with its summary."""
    for command, summary in page.commands:
        if command.options or not command.commands:
            yield command, summary
        yield from leaves(command)


def page_name(command):
    """actorq-replay-export of "actorq replay export"."""
    return command.program.replace(" ", "-")


def render_commands(page):
    """A list of all that have a page."""
    out = [".Bl -tag -width Ds"]
    for command, summary in leaves(page):
        out += [f".It Xr {page_name(command)} 1", *prose(summary)]
    return [*out, ".El"]


def render_command(command, summary, parent, version):
    """The page of a command."""
    name = page_name(command)
    out = [f".Dd {DATE}", f".Dt {name.upper()} 1", f".Os ActorQ {version}",
           ".Sh NAME", f".Nm {name}", f".Nd {escape(summary)}",
           ".Sh SYNOPSIS", f".D1 {escape(command.program)} {escape(command.usage)}",
           ".Sh DESCRIPTION"]
    for number, paragraph in enumerate(command.summary):
        out += [".Pp"] if number else []
        out += prose(paragraph)
    out += [".Sh OPTIONS", *render_options(command, True)]
    details = render_details(command.details)
    out += [".Sh NOTES", *details[1:]] if details else []
    return [*out, ".Sh SEE ALSO", f".Xr {parent} 1"]


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def write_commands(folder, version, program):
    """A page for each command, in a folder that then holds nothing else."""
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    page = help_pages.read_program(program)
    for command, summary in leaves(page):
        write(os.path.join(folder, page_name(command) + ".1"),
              render_command(command, summary, page.program, version))


def render_settings(settings):
    """A subsection for each section of the file."""
    out, section = [], None
    for setting in settings:
        its_own = setting.key.split(".")[0] if "." in setting.key else ""
        if its_own != section:
            out += [".El"] if section is not None else []
            out += [f".Ss {its_own or 'Without a section'}", ".Bl -tag -width Ds"]
            section = its_own
        out += [f".It Ic {setting.key}", *prose(setting.meaning),
                *prose(f"Allowed: {setting.allowed}.")]
    return [*out, ".El"]


class Template:
    """A template and the programs that it speaks of."""

    def __init__(self, version, programs):
        self.version = version
        self.paths = {os.path.basename(path): path for path in programs}

    def fill_line(self, folder, word, argument):
        """What stands in the place of one line."""
        if word == "VERSION":
            return [f".Os ActorQ {self.version}"]
        if word == "INCLUDE":
            return self.fill(os.path.join(folder, argument))
        if word == "SETTINGS":
            return render_settings(help_pages.read_settings(self.paths["actorq"]))
        page = help_pages.read_program(self.paths[argument])
        return {"OPTIONS": lambda: render_options(page, True),
                "COMMANDS": lambda: render_commands(page),
                "EXAMPLES": lambda: render_examples(page.details)}[word]()

    def fill(self, path):
        """The lines of the page."""
        out = []
        with open(path, encoding="utf-8") as file:
            for line in file.read().rstrip("\n").split("\n"):
                if line.startswith("@"):
                    word, _, argument = line[1:].partition(" ")
                    out += self.fill_line(os.path.dirname(path), word, argument)
                elif line.startswith(".") or len(line) <= LINE_MAX:
                    out.append(line)
                else:
                    out += wrap(line)
        return out


def main(template, output, version, *programs):
    write(output, Template(version, programs).fill(template))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    if sys.argv[1] == "--commands":
        write_commands(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
