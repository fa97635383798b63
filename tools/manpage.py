#!/usr/bin/env python3
"""Makes a manual page (mdoc) from a template and from what the programs say of themselves.

    tools/manpage.py TEMPLATE OUTPUT VERSION PROGRAM...

A line of the template that begins with @ stands for more:

    @OPTIONS NAME     the options of a program
    @COMMANDS NAME    a subsection for each of its commands
    @EXAMPLES NAME    what its help says after the options
    @SETTINGS         every setting of a run
    @VERSION          the name and version, for the foot of the page
    @INCLUDE FILE     another template beside this one
"""

import os
import re
import sys
import textwrap

import help_pages

LINE_MAX = 72
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
    value = f" Ar {escape(option.value)}" if option.value else ""
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


def render_command(page):
    """A subsection; a command that has commands is one for each of them."""
    if page.commands:
        return [line for command, _ in page.commands for line in render_command(command)]
    out = [f".Ss {escape(page.program)}", f".D1 {escape(page.program)} {escape(page.usage)}", ".Pp"]
    for paragraph in page.summary:
        out += prose(paragraph)
    return out + render_options(page, False) + render_details(page.details)


def render_commands(page):
    """A list of all, then each of them."""
    out = [".Bl -tag -width quantize -compact"]
    for command, summary in page.commands:
        name = command.program.split(" ", 1)[1]
        out += [f".It Cm {name}", *prose(summary)]
    out.append(".El")
    for command, _ in page.commands:
        out += render_command(command)
    return out


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
    lines = Template(version, programs).fill(template)
    with open(output, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
