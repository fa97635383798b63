#!/usr/bin/env python3
"""Puts the dashboard's page together: one document without anything to fetch, as C.

    tools/dashboard_page.py OUT.c PAGE.html STYLE.css LIBRARY.js SCRIPT.js...

Styles and scripts stand within the page, and its content security policy names them by their
hashes: nothing else runs, whatever gets into the page. With an OUT that ends in .html, the page
itself is written.
"""

import base64
import hashlib
import os
import re
import sys

NUMBERS_PER_LINE = 24


def read(path):
    """The file's text."""
    with open(path, encoding="utf-8") as file:
        return file.read()


def source_of(text):
    """As a policy names it."""
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def attribute_sources(script):
    """Style attributes that the library sets by their text, which a policy has to name as well."""
    styles = re.findall(r'setAttribute\("style","([^"]*)"\)', script)
    return ["'unsafe-hashes'", *map(source_of, sorted(set(styles)))] if styles else []


def checked(text, path, end):
    """The text, which may not end the element that it is put into."""
    if re.search(end, text, re.IGNORECASE):
        sys.exit(f"{path}: holds {end}, which would end its element")
    return text


def page_of(page, style, library, scripts):
    """The whole document."""
    style_text = checked(read(style), style, "</style")
    library_text = re.sub(r"\n//# sourceMappingURL=.*\s*$", "\n",
                          checked(read(library), library, "</script"))
    script_text = "\"use strict\";\n(() => {\n" + \
        "\n".join(checked(read(path), path, "</script") for path in scripts) + "})();\n"
    policy = "; ".join((
        "default-src 'none'",
        f"script-src {source_of(library_text)} {source_of(script_text)}",
        " ".join(["style-src", source_of(style_text), *attribute_sources(library_text)]),
        "connect-src 'self'", "img-src data:", "base-uri 'none'", "form-action 'none'"))
    parts = {"@POLICY@": policy, "@STYLE@": style_text, "@LIBRARY@": library_text,
             "@SCRIPT@": script_text}
    return re.sub("|".join(parts), lambda match: parts[match.group(0)], read(page))


def c_of(page):
    """The document as a C file."""
    numbers = [str(byte) for byte in page]
    lines = [",".join(numbers[i:i + NUMBERS_PER_LINE])
             for i in range(0, len(numbers), NUMBERS_PER_LINE)]
    return ("/* Written by tools/dashboard_page.py. */\n"
            "#include \"learner/web/dashboard_page.h\"\n\n"
            "const uint8_t aq_dashboard_page[] = {\n" + ",\n".join(lines) + "};\n"
            f"const size_t aq_dashboard_page_bytes = {len(page)};\n")


def main():
    if len(sys.argv) < 6:
        sys.exit(__doc__)
    out, page, style, library = sys.argv[1:5]
    page = page_of(page, style, library, sys.argv[5:])
    text = page if out.endswith(".html") else c_of(page.encode())
    with open(out + ".part", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(out + ".part", out)


if __name__ == "__main__":
    main()
