#!/usr/bin/env python3
"""Makes C texts of the functions of common/base/exact_math.c, for exported policies to carry.

    tools/exact_texts.py OUT.c exact_math.c

A definition and the comment above it are a row; those that it calls stand before it. "@" stands for
the prefix of an exported file's names, as everywhere in the export. What multiplies is
kept apart from its callers, whose constants GCC 12 would contract with.
"""

import re
import sys

DEFINITION = re.compile(r"^(?:static )?(?:const )?\w+ (\w+)(?:\(| =)", re.MULTILINE)
HEAD = '''/* Made by tools/exact_texts.py. */
#include "quantizer/export/export_exact.h"

const aq_exact_text aq_exact_texts[] = {
    {"@_exact_root", aq_exact_root_text},
'''


def definitions(path):
    """(name, comment, code) of each, in order. What follows a blank line in a body is indented."""
    with open(path, encoding="utf-8") as file:
        body = file.read().rpartition("#include")[2].partition("\n")[2]
    for text in re.split(r"\n\n(?=\S)", body.strip()):
        match = DEFINITION.search(text)
        yield match.group(1), text[:match.start()], text[match.start():]


def main():
    """Writes the rows."""
    rows = list(definitions(sys.argv[2]))
    names = {name: "@_exact_" + name.removeprefix("aq_exact_") for name, _, _ in rows}
    names["sqrt"] = "@_exact_root"
    word = re.compile(r"\b(" + "|".join(names) + r")\b")
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write(HEAD)
        for name, comment, code in rows:
            linkage = "" if code.startswith("static") else "static "
            apart = "@_APART\n" if re.search(r"\w \* \w", code) else ""
            code = word.sub(lambda match: names[match.group(1)], code)
            lines = f"\n{comment}{apart}{linkage}{code}".split("\n")
            quoted = "\n".join('     "' + line.replace('"', '\\"') + '\\n"' for line in lines)
            out.write(f'    {{"{names[name]}",\n{quoted}}},\n')
        out.write("    {0},\n};\n")


if __name__ == "__main__":
    main()
