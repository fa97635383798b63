"""How `pip install ./python` makes a wheel, without a network: Meson builds, and this packs what it
built (PEP 517, with nothing but Python's own library).

The library comes from the build folder that ACTORQ_BUILD names, seen from the clone's root, or from
build/; a folder that is not there is set up. It goes into the wheel, beside the module that loads
it, so that the folder may be removed. What it stands on (libmujoco, libzstd and so on) is the
system's.
"""
import base64
import hashlib
import os
import shutil
import subprocess
import sysconfig
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
NAME, VERSION = "actorq", "0.1.0"
TAG = "cp311-abi3-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
METADATA = f"""Metadata-Version: 2.1
Name: {NAME}
Version: {VERSION}
Summary: ActorQ's policies, environments, runs and data sets
License: MIT
Requires-Python: >=3.11
Requires-Dist: numpy
"""
WHEEL = f"Wheel-Version: 1.0\nGenerator: actorq\nRoot-Is-Purelib: false\nTag: {TAG}\n"


def run(*command):
    """What a program prints. It is run as it would be without pip, which puts packages of its own
    before those that Meson needs."""
    plain = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=plain)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(command[:3])} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def built():
    """The build folder, and the files of the package in it: one that the package had once may be
    there, too."""
    root = os.path.dirname(HERE)
    folder = os.path.join(root, os.environ.get("ACTORQ_BUILD", "build"))
    if not os.path.exists(os.path.join(folder, "build.ninja")):
        run("meson", "setup", folder, root, "--buildtype=release", "-Dtests=disabled",
            "-Dpython=enabled")
    run("ninja", "-C", folder, "build.ninja")
    listed = run("ninja", "-C", folder, "-t", "targets", "all")
    targets = [line.split(":")[0] for line in listed.splitlines()
               if line.startswith(("python/actorq/", "python/actorq_env/"))
               and "/_actorq.abi3.so.p/" not in line]
    if "python/actorq/_actorq.abi3.so" not in targets:
        raise SystemExit(f"{folder} was set up without the package: it lacks the headers of Python "
                         "(libpython3-dev), and has to be set up again then")
    run("ninja", "-C", folder, *targets)
    return folder, targets


def digest(data):
    """As a wheel's list of files has it."""
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def place(target):
    """Where a file of the build stands in the wheel. The worker's half of py: environments has a
    folder of its own, as another Python is to find it there, and nothing else of this one's."""
    return (f"{NAME}/{target}" if target.startswith("python/actorq_env/")
            else target.removeprefix("python/"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The wheel's name; pip calls this."""
    del config_settings, metadata_directory
    (folder, targets), info = built(), f"{NAME}-{VERSION}.dist-info"
    files = {place(name): os.path.join(folder, name) for name in sorted(targets)
             if name.endswith((".py", ".pyi", ".typed", ".so"))}
    files[f"{NAME}/libactorq.so.1"] = os.path.join(folder, "library", "libactorq.so.1")
    contents = {name: open(path, "rb").read() for name, path in files.items()}
    contents |= {f"{info}/METADATA": METADATA.encode(), f"{info}/WHEEL": WHEEL.encode()}
    record = "".join(f"{name},sha256={digest(data)},{len(data)}\n"
                     for name, data in contents.items()) + f"{info}/RECORD,,\n"
    wheel = f"{NAME}-{VERSION}-{TAG}.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, wheel), "w",
                         zipfile.ZIP_DEFLATED) as archive:
        for name, data in (contents | {f"{info}/RECORD": record.encode()}).items():
            archive.writestr(name, data)
    return wheel


def build_sdist(sdist_directory, config_settings=None):
    """There is none: the package is built in a clone."""
    del sdist_directory, config_settings
    raise SystemExit("actorq is built from a clone of its repository: pip install ./python")


def get_requires_for_build_wheel(config_settings=None):
    """Meson and ninja are programs, not packages of pip's."""
    del config_settings
    for program in ("meson", "ninja"):
        if not shutil.which(program):
            raise SystemExit(f"{program} is missing (apt-get install meson ninja-build)")
    return []
