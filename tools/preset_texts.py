#!/usr/bin/env python3
"""Turns the presets into C, so that programs need no files for them.

    tools/preset_texts.py OUT.c PRESET.yaml...

The order of the files is that of the table (common/config/preset_texts.h).
"""

import pathlib
import sys


def literal(line):
    """A line of YAML, which is plain ASCII, as a C string."""
    return '    "' + line.replace("\\", "\\\\").replace('"', '\\"') + '\\n"'


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    out, *paths = map(pathlib.Path, sys.argv[1:])
    rows = [f'    {{"{path.stem}",\n' +
            "\n".join(literal(line) for line in path.read_text(encoding="ascii").splitlines()) +
            "}," for path in paths]
    out.write_text("/* Written by tools/preset_texts.py. */\n"
                   '#include "common/config/preset_texts.h"\n\n'
                   "const aq_preset_text aq_preset_texts[] = {\n" + "\n".join(rows) + "\n};\n"
                   f"const size_t aq_preset_text_count = {len(rows)};\n", encoding="ascii")


if __name__ == "__main__":
    main()
