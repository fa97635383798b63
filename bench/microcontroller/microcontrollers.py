#!/usr/bin/env python3
"""What exported policies take of a microcontroller: flash, stack and instructions of a call.

    bench/microcontroller/microcontrollers.py ACTORQ [--write docs/export.md]

Makes policies with random weights (their values change little of what is counted), quantizes and
exports them with ACTORQ, compiles them with arm-none-eabi-gcc -O2 for each core, and runs them on
a board that qemu-system-arm simulates, with one instruction a nanosecond. Prints a table in
Markdown; --write puts it between the marks of a page. Needs Debian's gcc-arm-none-eabi,
qemu-system-arm and python3-numpy.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- microcontrollers.py begins -->", "<!-- microcontrollers.py ends -->"

# Network, task, widths, whether actions are numbers.
POLICIES = [
    ("gym:CartPole-v1", (4, 64, 64, 2), False),
    ("gym:Pendulum-v1", (3, 64, 64, 1), True),
    ("dmc:walker_walk", (24, 256, 256, 6), True),
]
# Name, flags, board.
CORES = [
    ("Cortex-M0", "-mcpu=cortex-m0 -mfloat-abi=soft", "mps2-an385"),
    ("Cortex-M3", "-mcpu=cortex-m3 -mfloat-abi=soft", "mps2-an385"),
    ("Cortex-M4F", "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard", "mps2-an386"),
    ("Cortex-M7F", "-mcpu=cortex-m7 -mfpu=fpv5-sp-d16 -mfloat-abi=hard", "mps2-an500"),
]
# What a policy is quantized with, by how the table calls its weights. As it comes of a run for
# continuous actions, its first layer is bf16.
PUBLISHED = {"as published: int8, first layer bf16": ("--layer-formats", "0:bf16")}
FORMATS = {"int8": (), "int4": ("--format", "int4"),
           "int8-sparse": ("--format", "int8-sparse"), "fp32": None}


def formats_of(is_box):
    """Those that are measured."""
    return {**(PUBLISHED if is_box else {}), **FORMATS}


def file_of(form):
    """The name of a format's files."""
    return form.split(":", maxsplit=1)[0].replace(" ", "_")


def make_policy(actorq, folder, task, widths, is_box):
    """Policies of the task in all formats, exported: FOLDER/int8.c and so on."""
    rng = np.random.default_rng(1)
    arrays = {}
    for index, (columns, rows) in enumerate(zip(widths, widths[1:])):
        arrays[f"{2 * index}.weight"] = rng.standard_normal((rows, columns)) / columns ** 0.5
        arrays[f"{2 * index}.bias"] = rng.standard_normal(rows) / 10
    np.savez(folder / "net.npz", **arrays)

    def run(*arguments):
        subprocess.run([actorq, *arguments], check=True, cwd=folder, stdout=subprocess.DEVNULL)

    run("import", "net.npz", "--task", task, "--activation", "relu", "--output", "fp32.aq",
        "--end", "tanh" if is_box else "values")
    for form, options in formats_of(is_box).items():
        name = file_of(form)
        if options is not None:
            run("quantize", "fp32.aq", f"{name}.aq", "--rows", "64", *options)
        run("export", f"{name}.aq", "--name", "policy", "--output", f"{name}.c")


def measure(folder, file, widths, is_box, core):
    """Of FOLDER/FILE.c: bytes of code and of constants, of stack, and instructions of a call."""
    name, flags, board = core
    compiler = ["arm-none-eabi-gcc", "-mthumb", *flags.split(), "-O2"]
    subprocess.run([*compiler, "-c", f"{file}.c", "-o", "policy.o"], check=True, cwd=folder)
    subprocess.run([*compiler, f"-DINPUTS={widths[0]}", f"-DELEMENTS={widths[-1] if is_box else 1}",
                    f"-DIS_BOX={int(is_box)}", "-nostartfiles", "-T", str(HERE / "board.ld"),
                    str(HERE / "board.c"), "policy.o", "-o", "board.elf"], check=True, cwd=folder)
    sizes = subprocess.run(["arm-none-eabi-size", "-A", "policy.o"], check=True, cwd=folder,
                           capture_output=True, text=True).stdout
    rows = re.findall(r"^\.(\w+)\S* +(\d+)", sizes, re.MULTILINE)
    told = subprocess.run(["qemu-system-arm", "-M", board, "-icount", "shift=0", "-semihosting",
                           "-display", "none", "-monitor", "none", "-serial", "none", "-kernel",
                           "board.elf"], check=True, cwd=folder, capture_output=True, text=True,
                          timeout=300)
    made = dict(line.split() for line in (told.stdout + told.stderr).split("\n") if line)
    return {"core": name, "code": sum(int(size) for kind, size in rows if kind == "text"),
            "constants": sum(int(size) for kind, size in rows if kind == "rodata"),
            "static": sum(int(size) for kind, size in rows if kind in ("data", "bss")),
            "stack": int(made["stack"]), "instructions": int(made["instructions"])}


def rows_of(actorq):
    """The table's rows."""
    for task, widths, is_box in POLICIES:
        with tempfile.TemporaryDirectory(prefix="actorq-mcu-") as folder:
            place = pathlib.Path(folder)
            make_policy(actorq, place, task, widths, is_box)
            for form in formats_of(is_box):
                for core in CORES:
                    one = measure(place, file_of(form), widths, is_box, core)
                    yield (f"| {task} {'-'.join(map(str, widths))} | {form} | {one['core']} "
                           f"| {one['constants']:,} | {one['code']:,} | {one['static']} "
                           f"| {one['stack']:,} | {one['instructions']:,} |")


def main():
    """Makes the table."""
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("actorq")
    parser.add_argument("--write", metavar="PAGE")
    arguments = parser.parse_args()
    actorq = str(pathlib.Path(arguments.actorq).resolve())
    table = "\n".join(["| policy | weights | core | flash: constants | flash: code | RAM: static "
                       "| RAM: stack | instructions a call |",
                       "|---|---|---|---|---|---|---|---|", *rows_of(actorq)])
    if arguments.write:
        page = pathlib.Path(arguments.write)
        head, rest = page.read_text(encoding="utf-8").split(BEGIN)
        page.write_text(f"{head}{BEGIN}\n{table}\n{END}{rest.split(END)[1]}", encoding="utf-8")
    else:
        print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
