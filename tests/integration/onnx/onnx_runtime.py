"""A small runtime for ONNX models of policies, in NumPy: the operators as ONNX describes them.

It is slow and does what the description says, so that models are checked against that rather than
against one runtime's ways. Of the quantizing operators, sums of integers are exact.
"""

import numpy as np
from onnx import helper, numpy_helper


def windows_of(image, attributes, beyond):
    """Of (rows, channels, height, width), with a border: (..., height, width, kernel, kernel)."""
    pads, strides = attributes["pads"], attributes["strides"]
    image = np.pad(image, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])),
                   constant_values=beyond)
    windows = np.lib.stride_tricks.sliding_window_view(image, attributes["kernel_shape"],
                                                       axis=(2, 3))
    return windows[:, :, ::strides[0], ::strides[1]]


def convolve(image, weights, attributes):
    """(rows, channels, height, width) by (filters, channels, kernel, kernel)."""
    return np.einsum("rchwij,fcij->rfhw", windows_of(image, attributes, 0), weights)


def dynamic_levels(x):
    """DynamicQuantizeLinear: the range of all of x, with 0 in it, in 256 levels."""
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = np.float32((high - low) / np.float32(255)) if high > low else np.float32(1)
    zero = np.clip(np.rint(np.float32(0 - low) / scale), 0, 255)
    levels = np.clip(np.rint(x / scale) + zero, 0, 255)
    return levels.astype(np.uint8), scale, zero.astype(np.uint8)


def around_axis(values, axis, rank):
    """One for each place along an axis, shaped to meet an array of that rank."""
    return values.reshape([-1 if i == axis % rank else 1 for i in range(rank)]) \
        if np.ndim(values) else values


def dequantize(x, scale, zero=np.int8(0), axis=1):
    """DequantizeLinear, by tensor or along an axis."""
    return (x.astype(np.float32) - np.float32(zero)) * around_axis(scale, axis, x.ndim)


def normalize(x, gain, bias, axis=-1, epsilon=1e-5):
    """LayerNormalization over the last axis."""
    centred = x - x.mean(axis=axis, keepdims=True)
    return centred / np.sqrt((centred ** 2).mean(axis=axis, keepdims=True) + epsilon) * gain + bias


def soft_max(x, axis):
    """Softmax along an axis."""
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def less_zero(x, zero=0):
    """Levels as integers that have room, less their zero point."""
    return x.astype(np.int32) - np.int32(zero)


# Each gets its inputs, then its attributes by name.
OPERATORS = {
    "Add": lambda a, b: a + b,
    "ArgMax": lambda x, axis, keepdims: x.argmax(axis=axis, keepdims=bool(keepdims)),
    "Cast": lambda x, to: x.astype(helper.mapping.TENSOR_TYPE_TO_NP_TYPE[to]),
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "Clip": lambda x, low, high: np.clip(x, low, high),
    "Conv": lambda x, w, **how: convolve(x, w, how),
    "ConvInteger": lambda x, w, zero, w_zero=0, **how:
        convolve(less_zero(x, zero), less_zero(w, w_zero), how),
    "DequantizeLinear": dequantize,
    "DynamicQuantizeLinear": dynamic_levels,
    "Elu": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "Expand": lambda x, shape: np.broadcast_to(x, shape),
    "Identity": lambda x: x,
    "LayerNormalization": normalize,
    "Log": np.log,
    "LogSoftmax": lambda x, axis: np.log(soft_max(x, axis)),
    "MatMul": np.matmul,
    "MatMulInteger": lambda a, b, zero, b_zero=0:
        np.matmul(less_zero(a, zero), less_zero(b, b_zero)),
    "Max": np.maximum,
    "MaxPool": lambda x, **how: windows_of(x, how, -np.inf).max(axis=(4, 5)),
    "Min": np.minimum,
    "Mul": lambda a, b: a * b,
    "QuantizeLinear": lambda x, scale, zero:
        np.clip(np.rint(x / scale) + zero, 0, 255).astype(np.uint8),
    "ReduceMean": lambda x, axes, keepdims: x.mean(axis=tuple(axes), keepdims=bool(keepdims)),
    "Relu": lambda x: np.maximum(x, 0),
    "Reshape": lambda x, shape: x.reshape([x.shape[i] if n == 0 else n
                                           for i, n in enumerate(shape)]),
    "Shape": lambda x: np.array(x.shape, np.int64),
    "Slice": lambda x, start, stop, axis:
        x[(slice(None),) * int(axis[0]) + (slice(int(start[0]), int(stop[0])),)],
    "Softmax": soft_max,
    "Sub": lambda a, b: a - b,
    "Tanh": np.tanh,
    "Transpose": lambda x, perm: x.transpose(perm),
}


def run(model, obs):
    """The ends of a model, by name, of one batch of observations."""
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    values["obs"] = obs
    for node in model.graph.node:
        attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
        made = OPERATORS[node.op_type](*(values[name] for name in node.input), **attributes)
        made = made if isinstance(made, tuple) else (made,)
        values.update(zip(node.output, made))
    return {end.name: values[end.name] for end in model.graph.output}
