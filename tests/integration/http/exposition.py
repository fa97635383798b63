"""A strict reader of Prometheus's text format 0.0.4.

It refuses what Prometheus would let pass and people would stumble over: samples before or apart
from their family's TYPE, families without HELP, counters without _total, names of other shapes,
repeated samples, buckets that fall or that do not end in +Inf.
"""

import math
import re

NAME = r"[a-z][a-z0-9_]*"
HELP = re.compile(rf"# HELP ({NAME}) (\S.*)")
TYPE = re.compile(rf"# TYPE ({NAME}) (counter|gauge|histogram)")
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)")
LABEL = re.compile(rf'({NAME})="((?:[^"\\\n]|\\[\\"n])*)"(,|$)')
NUMBER = re.compile(r"[+-]Inf|-?\d+(\.\d+)?(e[+-]\d+)?")


class Malformed(Exception):
    """What is wrong with a page."""


class Family:
    """One family: its type, its help, and its samples by suffix and labels."""

    def __init__(self, name, text):
        self.name = name
        self.help = text
        self.type = None
        self.samples = {}

    def value(self, **labels):
        """The value of the sample with these labels."""
        return self.samples["", tuple(sorted(labels.items()))]


def read_labels(text):
    """Sorted pairs of a label list."""
    labels, at = [], 0
    while at < len(text):
        match = LABEL.match(text, at)
        if not match or (match[3] == "," and match.end() == len(text)):
            raise Malformed(f"labels {text!r}")
        labels.append((match[1], match[2]))
        at = match.end()
    if len({name for name, _ in labels}) < len(labels):
        raise Malformed(f"a label twice: {text!r}")
    return tuple(sorted(labels))


def suffix_of(name, family):
    """What the name of a sample has more than that of its family."""
    suffixes = ("_bucket", "_count", "_sum") if family.type == "histogram" else ("",)
    for suffix in suffixes:
        if name == family.name + suffix:
            return suffix
    raise Malformed(f"{name} is no sample of {family.name}")


def check_histogram(family):
    """Buckets never fall, and the last is the count."""
    buckets = [(float(dict(labels)["le"]), value)
               for (suffix, labels), value in family.samples.items() if suffix == "_bucket"]
    if buckets != sorted(buckets) or [value for _, value in buckets] != sorted(
            value for _, value in buckets):
        raise Malformed(f"{family.name}: buckets fall")
    if not buckets or not math.isinf(buckets[-1][0]):
        raise Malformed(f"{family.name}: no bucket for all")
    if family.samples.get(("_count", ())) != buckets[-1][1]:
        raise Malformed(f"{family.name}: the count is not the last bucket")


def check_family(family):
    """What is to be said of a family as a whole."""
    if family.type is None:
        raise Malformed(f"{family.name} has no TYPE")
    if (family.type == "counter") != family.name.endswith("_total"):
        raise Malformed(f"{family.name} is a {family.type}")
    if family.type == "counter" and any(value < 0 for value in family.samples.values()):
        raise Malformed(f"{family.name} is below 0")
    if family.type == "histogram":
        check_histogram(family)


def read_sample(line, family):
    """Adds the sample of a line to its family."""
    match = SAMPLE.fullmatch(line)
    if not match or family is None or not NUMBER.fullmatch(match[3]):
        raise Malformed(f"line {line!r}")
    key = suffix_of(match[1], family), read_labels(match[2] or "")
    if key in family.samples:
        raise Malformed(f"twice: {line!r}")
    family.samples[key] = float(match[3])


def read(page):
    """{name: Family} of a page."""
    if not page.endswith("\n"):
        raise Malformed("the last line has no end")
    families, family = {}, None
    for line in page[:-1].split("\n"):
        if match := HELP.fullmatch(line):
            if match[1] in families:
                raise Malformed(f"{match[1]} twice")
            family = families[match[1]] = Family(match[1], match[2])
        elif match := TYPE.fullmatch(line):
            if family is None or family.name != match[1] or family.type or family.samples:
                raise Malformed(f"TYPE of {match[1]} stands alone")
            family.type = match[2]
        else:
            read_sample(line, family if family and family.type else None)
    for family in families.values():
        check_family(family)
    return families
