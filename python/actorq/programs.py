"""Where ActorQ's programs are, and the Python of environments in Python."""
import importlib.util
import os
import shutil
import sys


def find_program():
    """The path of the program actorq: that in the environment variable ACTORQ_PROGRAM, the one that
    was built or installed with this package, or the one in PATH."""
    chosen = os.environ.get("ACTORQ_PROGRAM")
    if chosen:
        return chosen
    folder = os.path.dirname(os.path.abspath(__file__))
    while folder != os.path.dirname(folder):
        for place in ("bin", "cli"):
            path = os.path.join(folder, place, "actorq")
            if os.access(path, os.X_OK) and os.path.isfile(path):
                return path
        folder = os.path.dirname(folder)
    found = shutil.which("actorq")
    if not found:
        raise FileNotFoundError("the program actorq is neither near this package nor in PATH; "
                                "ACTORQ_PROGRAM says where it is")
    return found


def choose_python(task):
    """Environments of a task "py:..." run in a Python of their own: this one, unless ACTORQ_PYTHON
    and ACTORQ_PYTHONPATH, which programs that are started hear of, too, say otherwise. A task of
    None may be such a one: a file names it."""
    if task is not None and not task.startswith("py:"):
        return
    os.environ.setdefault("ACTORQ_PYTHON", sys.executable)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "python")  # a wheel's
    if not os.path.exists(folder):
        bridge = importlib.util.find_spec("actorq_env")
        folder = os.path.dirname(os.path.dirname(bridge.origin)) if bridge else os.path.join(
            os.path.dirname(os.path.dirname(find_program())), "share/actorq/python")
    if os.path.exists(folder):
        os.environ.setdefault("ACTORQ_PYTHONPATH", folder)
