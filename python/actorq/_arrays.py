"""Anything as rows of a space, or a word why it is none."""

import numpy as np


def as_rows(values, dtype, shape, what):
    """An array in C order of that type, of `shape` or of rows of it.

    >>> as_rows([[1, 2]], np.dtype("float32"), (2,), "observations")
    array([[1., 2.]], dtype=float32)
    >>> as_rows([1, 2, 3], np.dtype("float32"), (2,), "observations")
    Traceback (most recent call last):
    ValueError: observations of the shape (3,); (2,) is wanted, or rows of it, (N, 2)
    """
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{what} are no array: {error}") from None
    if array.dtype.kind not in ("biu" if dtype.kind in "iu" else "biuf"):
        raise TypeError(f"{what} of the type {array.dtype}; {dtype} is wanted")
    if array.shape != shape and array.shape[1:] != shape:
        rows = ", ".join(["N", *map(str, shape)]) if shape else "N,"
        raise ValueError(f"{what} of the shape {array.shape}; {shape} is wanted, or rows of it, "
                         f"({rows})")
    if dtype.kind in "iu" and array.size and \
            not np.array_equal(array, narrow := array.astype(dtype)):
        low, high = array.min(), array.max()
        raise ValueError(f"{what} from {low} to {high} do not fit {narrow.dtype}")
    return np.require(array, dtype, ["C", "ALIGNED"]).reshape(array.shape)
