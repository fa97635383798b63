#!/usr/bin/env python3
"""Turns the model descriptions into C, so that the program needs no files at run time.

    embed_models.py OUT.c MODEL.xml...

Each becomes `const char aq_mjcf_<name>[]`, as numbers: a string literal of that length is beyond
what C17 promises.
"""

import os
import sys

NUMBERS_PER_LINE = 20


def definition(path):
    """The C definition of one description, with the NUL that ends it."""
    name = os.path.splitext(os.path.basename(path))[0]
    with open(path, "rb") as file:
        numbers = [str(byte) for byte in file.read()] + ["0"]
    lines = [
        "    " + ", ".join(numbers[i : i + NUMBERS_PER_LINE]) + ","
        for i in range(0, len(numbers), NUMBERS_PER_LINE)
    ]
    return "\n".join([f"const char aq_mjcf_{name}[] = {{"] + lines + ["};"])


def main():
    parts = ['#include "envs/mujoco/models.h"']
    parts += [definition(path) for path in sys.argv[2:]]
    with open(sys.argv[1], "w", encoding="ascii") as file:
        file.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    main()
