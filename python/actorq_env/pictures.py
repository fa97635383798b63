"""What an environment draws: pixels, or lines of text."""

import numpy as np

from actorq_env.protocol import PICTURE, PICTURE_MAX, Refusal


def choose_mode(env):
    """Gymnasium's environments draw as `render_mode` says, which nobody has said yet."""
    own = getattr(env, "unwrapped", env)
    if getattr(own, "render_mode", "") is None:
        modes = (getattr(own, "metadata", None) or {}).get("render_modes", ())
        own.render_mode = "ansi" if "ansi" in modes and "rgb_array" not in modes else "rgb_array"


def packed(env):
    """The picture as it lies in the memory that ActorQ sees; Refusal when it is none."""
    choose_mode(env)
    drawn = env.render()
    if isinstance(drawn, str):
        rows, columns, data = 0, 0, drawn.replace("\0", "?").encode("utf-8", "replace") + b"\0"
    elif isinstance(drawn, np.ndarray) and drawn.dtype == np.uint8 and drawn.ndim == 3 and \
            drawn.shape[2] == 3 and drawn.size:
        rows, columns, data = *drawn.shape[:2], drawn.tobytes()
    else:
        what = f"{drawn.dtype} of shape {drawn.shape}" if isinstance(drawn, np.ndarray) else \
            type(drawn).__name__
        raise Refusal(f"render gives {what}; an array of uint8 of shape (rows, columns, 3), or a"
                      " text, can be shown")
    if len(data) > PICTURE_MAX:
        raise Refusal(f"render gives a picture of {len(data)} bytes; {PICTURE_MAX} can be shown")
    return PICTURE.pack(rows, columns) + data
