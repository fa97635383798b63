#!/usr/bin/env python3
"""Ten training steps of double DQN, worked out number by number, for our tests to agree with.

    tools/golden_dqn.py > tests/golden/learner/dqn_10_steps.txt

An implementation of its own: one sample at a time, in double precision, from the textbook formulas.
Whatever the C code is handed (parameters, batches) is rounded to float32 first.

One record a line, its kind first:

    case,dqn                               starts a case
    set,<KEY=VALUE>                        a setting, any number of them
    task,<inputs>,<actions>,<rows>         rows are those of a batch
    parameters,<...>                       layer by layer: weights [outputs][inputs], then biases
    then for each step
    obs,<...>  next_obs,<...>  action,<...>  reward,<...>  bootstrap,<...>  weight,<...>
    step,<loss>,<mean of the chosen values>,<norm of the gradient before clipping>
    and after the last step
    online,<...>                           target,<...>
Standard library only.
"""
import math
import random
import struct
import sys

STEPS = 10
BETA1, BETA2 = 0.9, 0.999

CASES = [
    {"net": (4, 2, 8), "hidden": [16, 12], "activation": "relu",
     "adam": (1e-3, 1e-8), "loss": (1.0, 0.0, 4)},
    {"net": (3, 4, 6), "hidden": [10], "activation": "tanh",
     "adam": (5e-3, 1e-4), "loss": (0.3, 0.1, 3)},
    {"net": (5, 3, 7), "hidden": [9, 8, 7], "activation": "elu",
     "adam": (2e-3, 1e-5), "loss": (10.0, 1.0, 100)},
    {"net": (2, 3, 5), "hidden": [], "activation": "relu",
     "adam": (1e-2, 1e-8), "loss": (0.5, 0.0, 1)},
]


def float32(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


def record(kind, *values):
    fields = [v if isinstance(v, str) else f"{v:.9g}" for v in values]
    print(",".join([kind] + fields))


def act(name, z):
    if name == "relu":
        return max(z, 0.0)
    if name == "tanh":
        return math.tanh(z)
    return z if z > 0 else math.expm1(z)


def act_slope(name, z):
    if name == "relu":
        return 1.0 if z > 0 else 0.0
    if name == "tanh":
        return 1.0 / math.cosh(z) ** 2
    return 1.0 if z > 0 else math.exp(z)


class Network:
    """Layers of (weights[output][input], biases[output])."""

    def __init__(self, widths, activation, numbers):
        self.widths, self.activation = widths, activation
        self.layers = []
        rest = iter(numbers)
        for inputs, outputs in zip(widths, widths[1:]):
            weights = [[next(rest) for _ in range(inputs)] for _ in range(outputs)]
            self.layers.append((weights, [next(rest) for _ in range(outputs)]))

    def numbers(self):
        return [n for weights, biases in self.layers for n in sum(weights, []) + biases]

    def forward(self, x):
        """Outputs, and for each layer what went in and what came before its activation."""
        trace = []
        for depth, (weights, biases) in enumerate(self.layers):
            z = [sum(w * v for w, v in zip(row, x)) + b for row, b in zip(weights, biases)]
            trace.append((x, z))
            last = depth == len(self.layers) - 1
            x = z if last else [act(self.activation, v) for v in z]
        return x, trace

    def gradient(self, trace, d_out):
        """Of sum(d_out * outputs), in the order of numbers()."""
        parts, d = [], d_out
        for depth in reversed(range(len(self.layers))):
            x, z = trace[depth]
            if depth < len(self.layers) - 1:
                d = [g * act_slope(self.activation, v) for g, v in zip(d, z)]
            parts.insert(0, [g * v for g in d for v in x] + d)
            weights = self.layers[depth][0]
            d = [sum(g * row[i] for g, row in zip(d, weights)) for i in range(len(x))]
        return sum(parts, [])


def huber(error, delta):
    """The loss and its slope."""
    if abs(error) <= delta:
        return error * error / 2, error
    return delta * (abs(error) - delta / 2), math.copysign(delta, error)


def loss_and_gradient(online, target, batch, actions, delta):
    rows = len(batch["action"])
    loss = q_sum = 0.0
    total = [0.0] * len(online.numbers())
    for i in range(rows):
        q, trace = online.forward(batch["obs"][i])
        online_next, _ = online.forward(batch["next_obs"][i])
        target_next, _ = target.forward(batch["next_obs"][i])
        greedy = online_next.index(max(online_next))
        y = batch["reward"][i] + batch["bootstrap"][i] * target_next[greedy]
        action = batch["action"][i]
        value, slope = huber(q[action] - y, delta)
        loss += batch["weight"][i] * value / rows
        q_sum += q[action]
        d_out = [0.0] * actions
        d_out[action] = batch["weight"][i] * slope / rows
        total = [t + g for t, g in zip(total, online.gradient(trace, d_out))]
    return loss, q_sum / rows, total


def random_batch(rng, inputs, actions, rows):
    def vector(low, high, count):
        return [float32(rng.uniform(low, high)) for _ in range(count)]

    bootstrap = vector(0.8, 1.0, rows)
    for i in range(0, rows, 3):
        bootstrap[i] = 0.0  # terminated
    return {"obs": [vector(-1.5, 1.5, inputs) for _ in range(rows)],
            "next_obs": [vector(-1.5, 1.5, inputs) for _ in range(rows)],
            "action": [rng.randrange(actions) for _ in range(rows)],
            "reward": vector(-2, 2, rows), "bootstrap": bootstrap,
            "weight": vector(0.2, 1.0, rows)}


def run(case, rng):
    inputs, actions, rows = case["net"]
    rate, epsilon = case["adam"]
    delta, clip, period = case["loss"]
    widths = [inputs] + case["hidden"] + [actions]
    numbers = []
    for before, after in zip(widths, widths[1:]):
        bound = math.sqrt(1 / before)
        numbers += [float32(rng.uniform(-bound, bound)) for _ in range((before + 1) * after)]

    settings = {"hidden": ",".join(str(width) for width in case["hidden"]),
                "activation": case["activation"], "learning_rate": rate, "adam_epsilon": epsilon,
                "huber_delta": delta, "gradient_clip": clip, "target_period": period}
    record("case", "dqn")
    for key, value in settings.items():
        record("set", f"learner.{key}={value}")
    record("task", inputs, actions, rows)
    record("parameters", *numbers)
    target = Network(widths, case["activation"], numbers)
    m, v = [0.0] * len(numbers), [0.0] * len(numbers)
    for t in range(1, STEPS + 1):
        batch = random_batch(rng, inputs, actions, rows)
        for kind, values in batch.items():
            record(kind, *(sum(values, []) if isinstance(values[0], list) else values))
        online = Network(widths, case["activation"], numbers)
        loss, q_mean, gradient = loss_and_gradient(online, target, batch, actions, delta)
        norm = math.sqrt(sum(g * g for g in gradient))
        record("step", loss, q_mean, norm)
        if 0 < clip < norm:
            gradient = [g * clip / norm for g in gradient]
        for i, g in enumerate(gradient):
            m[i] = BETA1 * m[i] + (1 - BETA1) * g
            v[i] = BETA2 * v[i] + (1 - BETA2) * g * g
            m_hat, v_hat = m[i] / (1 - BETA1 ** t), v[i] / (1 - BETA2 ** t)
            numbers[i] -= rate * m_hat / (math.sqrt(v_hat) + epsilon)
        if t % period == 0:
            target = Network(widths, case["activation"], numbers)
    record("online", *numbers)
    record("target", *target.numbers())


def main():
    if len(sys.argv) != 1:
        sys.exit(__doc__)
    print("# tools/golden_dqn.py")
    for number, case in enumerate(CASES):
        run(case, random.Random(number + 1))


if __name__ == "__main__":
    main()
