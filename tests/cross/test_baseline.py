"""Disassembles the build: instructions beyond the oldest processor's are in the rungs alone.

A test that runs sees the instructions that it reaches; this one sees them all.

    test_baseline.py OBJDUMP NM BUILD_FOLDER
"""

import os
import re
import subprocess
import sys
import unittest

OBJDUMP, NM, BUILD = sys.argv[1:4]

# A rung is a static library of its own, named after what it needs.
RUNG = re.compile(r"_(avx2|avxvnni|avx512|avx512vnni|avx512bf16|amx|neondot)\.a\.p/")

# Everything of VEX and EVEX encoding is called v..., but for tiles; the rest is what came between
# SSE2 and AVX, and Arm's dot products.
VECTOR = re.compile(r"v[a-z]|tile|tdp|ldtilecfg|[su]dot$")
LATER = re.compile(r"(addsub|hadd|hsub|phadd|phsub|psign|pabs|mpsadbw|blend|pblend|dpp[sd]|round|"
                   r"pmovsx|pmovzx|pminu[dw]|pmaxu[dw]|pmins[bd]|pmaxs[bd]|pextr[bdq]|pinsr[bdq]|"
                   r"pcmp[ei]str|crc32|aes|pclmul|gf2p8|mov(ddup|shdup|sldup|be)|andn$|bextr|bls|"
                   r"bzhi|mulx|pdep|pext$|rorx|sarx|shlx|shrx|adcx|adox)|"
                   r"(lddqu|pmaddubsw|pmulhrsw|pshufb|palignr|pmuldq|pmulld|packusdw|pcmpeqq|"
                   r"pcmpgtq|ptest|insertps|extractps|movntdqa|phminposuw|popcnt|lzcnt)$")

# Object and function: why it may, nevertheless.
ALLOWED = {
    ("base_crc32c.c.o", "update_by_instruction"): "called where the processor has SSE4.2",
    **{("net_security_seal.c.o", "nh_" + name): "called where the processor has it"
       for name in ("avx2", "avx512")},
    **{("vector_instruction.c.o", "run_" + name): "is to be refused by emulators"
       for name in ("sse42", "avx2", "avx512")},
}

# What a rung must not have, though its flags may: registers and masks of AVX-512, dot products.
ABOVE = {
    "avx2": re.compile(r"%zmm|%k[0-7]|%[xy]mm(1[6-9]|2\d|3[01])\b|vpdp"),
    "avxvnni": re.compile(r"%zmm|%k[0-7]|%[xy]mm(1[6-9]|2\d|3[01])\b"),
    "avx512": re.compile(r"vpdp"),
}


def objects():
    """Paths of all objects of the build."""
    for folder, _, names in os.walk(BUILD):
        for name in sorted(names):
            if name.endswith(".o") and "meson-private" not in folder:
                yield os.path.join(folder, name)


def instructions(paths):
    """(object, function, mnemonic, line) of every instruction."""
    dump = subprocess.run([OBJDUMP, "-d", "--no-show-raw-insn", *paths], check=True,
                          capture_output=True, text=True).stdout
    path = function = ""
    for line in dump.splitlines():
        if line.endswith(">:"):
            function = line[line.index("<") + 1:-2]
        elif ":     file format" in line:
            path = line.split(":")[0]
        elif "\t" in line:
            words = line.split("\t", 1)[1].split()
            if words:
                yield path, function, words[0], line.strip()


class Baseline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.rungs = [path for path in objects() if RUNG.search(path)]
        cls.others = [path for path in objects() if not RUNG.search(path)]

    def test_there_are_rungs_and_they_have_vector_instructions(self):
        found = set()
        for path, _, mnemonic, _ in instructions(self.rungs):
            if VECTOR.match(mnemonic):
                found.add(RUNG.search(path).group(1))
        self.assertTrue(found)
        self.assertEqual(found, {RUNG.search(path).group(1) for path in self.rungs})

    def test_nothing_else_has_an_instruction_that_an_old_processor_lacks(self):
        findings = [f"{path}: {function}: {line}"
                    for path, function, mnemonic, line in instructions(self.others)
                    if (VECTOR.match(mnemonic) or LATER.match(mnemonic))
                    and (os.path.basename(path), function) not in ALLOWED]
        self.assertEqual(findings[:20], [])

    def test_a_rung_has_no_instruction_of_a_higher_one(self):
        findings = []
        for path, function, _, line in instructions(self.rungs):
            above = ABOVE.get(RUNG.search(path).group(1))
            if above and above.search(line):
                findings.append(f"{path}: {function}: {line}")
        self.assertEqual(findings[:20], [])

    def test_a_rung_offers_nothing_that_others_could_take_for_their_own(self):
        """A function that a header brings into several objects must not be linked from a rung."""
        for path in self.rungs:
            listing = subprocess.run([NM, "--defined-only", "--extern-only", path], check=True,
                                     capture_output=True, text=True).stdout
            name = RUNG.search(path).group(1)
            family = r"avx512|" + name if name.startswith("avx512") else name
            for line in listing.splitlines():
                _, kind, symbol = line.split()
                self.assertRegex(symbol, rf"_({family})$", path)
                self.assertNotIn(kind, "wWvV", f"{path}: {symbol} is weak")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
