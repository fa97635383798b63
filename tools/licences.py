#!/usr/bin/env python3
"""What the programs are linked with, by package, version and licence, on Debian.

    tools/licences.py table PROGRAM...                   the table of docs/licences.md
    tools/licences.py check DOCUMENT PROGRAM...          whether that document still holds
    tools/licences.py write DOCUMENT PROGRAM...          makes it hold
    tools/licences.py sbom OUTPUT VERSION PROGRAM...     all of it as CycloneDX 1.5, in JSON

A library counts when a program needs it, or when one that counts needs it. Licences are those of
the packages' own /usr/share/doc/*/copyright, for the files that are the library; packages whose
copyright no program can read are in a table below.
"""

import json
import os
import re
import subprocess
import sys

# To compare with, in one benchmark, where it happens to be installed: no package of ours has it.
NOT_SHIPPED = re.compile(r"libdnnl\.so")
NO_LIBRARY = re.compile(r"ld-linux|linux-vdso")

# Source package: licence in SPDX's words. Their copyright files are prose, or name a licence as no
# one else does.
KNOWN = {
    "glibc": "LGPL-2.1-or-later",
    "dygraphs": "MIT",
    "gcc-12": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libccd": "BSD-3-Clause",
    "libpng1.6": "libpng-2.0",
    "mbedtls": "Apache-2.0 OR GPL-2.0-or-later",
    "nng": "MIT",
    "qhull": "Qhull",
    "tinyxml2": "Zlib",
}
OF_BINARY = {"libquadmath0": "LGPL-2.1-or-later"}

# Names of Debian's copyright format that SPDX spells otherwise.
SPDX = {"Expat": "MIT", "BSD-2-clause": "BSD-2-Clause", "BSD-3-clause": "BSD-3-Clause",
        "BSD-3": "BSD-3-Clause", "zlib": "Zlib", "GPL-2": "GPL-2.0-only",
        "GPL-2+": "GPL-2.0-or-later", "GPL-3+": "GPL-3.0-or-later",
        "LGPL-2.1+": "LGPL-2.1-or-later", "or": "OR", "and": "AND"}

# What is not linked but carried inside a program: the file, and the program that has it.
EMBEDDED = (("/usr/share/javascript/dygraphs/dygraph.min.js", "actorq-learner"),)

HEADING = "| library | package | licence | needed by |"
RULE = "|---|---|---|---|"


def output(*command):
    """What a command prints; nothing when it fails."""
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, encoding="utf-8",
                          stderr=subprocess.DEVNULL, env={**os.environ, "LC_ALL": "C"})
    return done.stdout


def needed(path):
    """The libraries that a file names."""
    names = re.findall(r"\(NEEDED\).*\[(.+)\]", output("readelf", "-d", path))
    return [name for name in names if not NO_LIBRARY.search(name) and not NOT_SHIPPED.search(name)]


def places(path):
    """Where the loader finds the libraries of a program, directly needed or not."""
    return dict(re.findall(r"(\S+) => (/\S+)", output("ldd", path)))


class Library:
    """A shared library: its file, and who needs it."""

    def __init__(self, name, path):
        self.name = name
        self.path = os.path.realpath(path)
        self.programs = set()  # names of ours
        self.libraries = set()  # names of libraries
        self.package = self.version = self.licence = ""


def find_libraries(programs):
    """All that the programs need, by name."""
    found = {}
    for program in programs:
        paths = places(program)
        waiting = [(name, os.path.basename(program), None) for name in needed(program)]
        seen = set()
        while waiting:
            name, who, library = waiting.pop()
            if name not in paths:
                raise SystemExit(f"{program}: {name} is not found")
            entry = found.setdefault(name, Library(name, paths[name]))
            if library:
                entry.libraries.add(library)
            else:
                entry.programs.add(who)
            if name not in seen:
                seen.add(name)
                waiting += [(below, who, name) for below in needed(entry.path)]
    return found


def spdx(words):
    """A licence of Debian's copyright format in SPDX's words."""
    return " ".join(SPDX.get(word, word) for word in words.replace(",", "").split())


def read_licence(package, source):
    """The licence of a package's own files."""
    if package in OF_BINARY or source in KNOWN:
        return OF_BINARY.get(package) or KNOWN[source]
    path = f"/usr/share/doc/{package}/copyright"
    if not os.path.exists(path):
        return "unknown"
    with open(path, encoding="utf-8", errors="replace") as file:
        text = file.read()
    match = re.search(r"^Files:\s*\*$.*?^License:[ \t]*(\S[^\n]*)$", text, re.M | re.S)
    return spdx(match[1]) if match else "unknown"


def ask_dpkg(libraries):
    """Fills in package, version and licence of each."""
    owners = {}
    names = {candidate for library in libraries for candidate in
             (library.path, library.path.removeprefix("/usr"))}
    for line in output("dpkg-query", "--search", *sorted(names)).split("\n"):
        package, _, path = line.partition(": ")
        owners[path] = package.split(",")[0].split(":")[0]
    for library in libraries:
        library.package = owners.get(library.path) or owners.get(
            library.path.removeprefix("/usr"), "")
    versions = {"": ("", "unknown")}
    packages = sorted({library.package for library in libraries if library.package})
    form = "${Package} ${Version} ${source:Package}\n"
    for line in output("dpkg-query", "--show", f"--showformat={form}", *packages).split("\n"):
        if line:
            package, version, source = line.split(" ")
            versions[package] = (version, read_licence(package, source))
    for library in libraries:
        library.version, library.licence = versions[library.package]


def find(programs):
    """All libraries, those that are needed directly first."""
    libraries = list(find_libraries(programs).values())
    names = {os.path.basename(program) for program in programs}
    for path, program in EMBEDDED:
        if program in names:
            libraries.append(Library(os.path.basename(path), path))
            libraries[-1].programs.add(program)
    ask_dpkg(libraries)
    return sorted(libraries, key=lambda library: (not library.programs, library.name))


def rows(libraries):
    """Of the table."""
    for library in libraries:
        who = ", ".join(sorted(library.programs)) or \
            "through " + ", ".join(sorted(library.libraries))
        yield f"| {library.name} | {library.package} | {library.licence} | {who} |"


def table(*programs):
    print("\n".join([HEADING, RULE, *rows(find(programs))]))
    return 0


def check(document, *programs):
    """One finding a line; the exit status says whether there is any."""
    with open("/etc/os-release", encoding="utf-8") as file:
        if "VERSION_CODENAME=bookworm\n" not in file.read():
            print("the list is that of Debian 12, so that nothing was checked here")
            return 1
    with open(document, encoding="utf-8") as file:
        written = {line.rstrip("\n") for line in file if line.startswith("| ")} - {HEADING}
    expected = set(rows(find(programs)))
    for row in sorted(expected - written):
        print(f"{document}: missing: {row}")
    for row in sorted(written - expected):
        print(f"{document}: not true: {row}")
    unknown = [row for row in expected if "unknown" in row]
    for row in unknown:
        print(f"no licence is known: {row}")
    if expected == written and not unknown:
        return 0
    print("to put it right: tools/licences.py write " + " ".join([document, *programs]))
    return 1


def write(document, *programs):
    """The document, with the table as it is now."""
    with open(document, encoding="utf-8") as file:
        head = file.read().split(HEADING)[0]
    with open(document, "w", encoding="utf-8") as file:
        file.write("\n".join([head + HEADING, RULE, *rows(find(programs))]) + "\n")
    return 0


def reference(package, version):
    return f"pkg:deb/debian/{package}@{version.replace('+', '%2B').replace(':', '%3A')}"


def sbom(path, version, *programs):
    """A component for each package; the same bytes for the same input."""
    libraries = find(programs)
    components = {}
    for library in libraries:
        ref = reference(library.package, library.version)
        licence = {"license": {"name": library.licence}} if library.licence == "unknown" \
            else {"expression": library.licence}
        entry = components.setdefault(ref, {
            "type": "library", "bom-ref": ref, "name": library.package,
            "version": library.version, "purl": ref, "licenses": [licence], "properties": []})
        entry["properties"].append({"name": "actorq:soname", "value": library.name})
    own = f"pkg:generic/actorq@{version}"
    refs = {library.name: reference(library.package, library.version) for library in libraries}
    edges = {own: {refs[library.name] for library in libraries if library.programs}}
    for library in libraries:
        for above in library.libraries:
            edges.setdefault(refs[above], set()).add(refs[library.name])
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"component": {
            "type": "application", "bom-ref": own, "name": "actorq", "version": version,
            "purl": own, "licenses": [{"expression": "MIT"}]}},
        "components": [components[ref] for ref in sorted(components)],
        "dependencies": [{"ref": ref, "dependsOn": sorted(edges[ref] - {ref})}
                         for ref in sorted(edges)],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file, indent=2)
        file.write("\n")
    return 0


def main(arguments):
    commands = {"table": (table, 1), "check": (check, 2), "write": (write, 2), "sbom": (sbom, 3)}
    if not arguments or arguments[0] not in commands:
        sys.exit(__doc__)
    command, least = commands[arguments[0]]
    if len(arguments) - 1 < least:
        sys.exit(__doc__)
    return command(*arguments[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
