"""Where ActorQ's programs are."""
import os
import shutil


def find_program(name="actorq"):
    """The path of a program of ActorQ: that in the environment variable ACTORQ_PROGRAM, the one
    that was built or installed with this package, or the one in PATH."""
    chosen = os.environ.get("ACTORQ_PROGRAM")
    if chosen:
        return chosen
    folder = os.path.dirname(os.path.abspath(__file__))
    while folder != os.path.dirname(folder):
        for place in ("bin", "cli"):
            path = os.path.join(folder, place, name)
            if os.access(path, os.X_OK) and os.path.isfile(path):
                return path
        folder = os.path.dirname(folder)
    found = shutil.which(name)
    if not found:
        raise FileNotFoundError(f"the program {name} is neither near this package nor in PATH; "
                                "ACTORQ_PROGRAM says where it is")
    return found
