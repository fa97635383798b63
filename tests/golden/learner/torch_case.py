"""What all cases of make_torch_10_steps.py have in common."""
import re

import torch
from torch import nn

STEPS = 10
ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "elu": nn.ELU}
torch.set_default_dtype(torch.float64)


def record(kind, *tensors):
    numbers = []
    for tensor in tensors:
        if isinstance(tensor, torch.Tensor):
            numbers += tensor.detach().reshape(-1).tolist()
        else:
            numbers.append(tensor)
    print(",".join([kind] + [f"{number:.9g}" for number in numbers]))


def single(tensor):
    return tensor.float().double()


class Block(nn.Module):
    """SimBa's."""

    def __init__(self, width, activation):
        super().__init__()
        self.branch = nn.Sequential(nn.LayerNorm(width, eps=1e-5), nn.Linear(width, 4 * width),
                                    ACTIVATIONS[activation](), nn.Linear(4 * width, width))

    def forward(self, x):
        return x + self.branch(x)


class Picture(int):
    """A number of inputs, (height, width, channels), and what learner.torso says."""

    def __new__(cls, shape, torso):
        self = super().__new__(cls, shape[0] * shape[1] * shape[2])
        self.shape, self.torso = shape, torso
        return self


class Convolution(nn.Module):
    """Images are (height, width, channels), and so are its weights, filter by filter."""

    def __init__(self, shape, filters, kernel, stride, padding=0):
        super().__init__()
        like = nn.Conv2d(shape[2], filters, kernel, stride)
        self.weight = nn.Parameter(like.weight.detach().permute(0, 2, 3, 1).contiguous())
        self.bias = nn.Parameter(like.bias.detach())
        self.shape, self.stride, self.padding = shape, stride, padding
        sides = [(side + 2 * padding - kernel) // stride + 1 for side in shape[:2]]
        self.out_shape = (*sides, filters)

    def forward(self, x):
        images = x.reshape(-1, *self.shape).permute(0, 3, 1, 2)
        y = nn.functional.conv2d(images, self.weight.permute(0, 3, 1, 2), self.bias, self.stride,
                                 self.padding)
        return y.permute(0, 2, 3, 1).reshape(*x.shape[:-1], -1)


class Pool(nn.Module):
    def __init__(self, shape, kernel, stride, padding=0):
        super().__init__()
        self.shape, self.how = shape, (kernel, stride, padding)
        sides = [(side + 2 * padding - kernel) // stride + 1 for side in shape[:2]]
        self.out_shape = (*sides, shape[2])

    def forward(self, x):
        images = x.reshape(-1, *self.shape).permute(0, 3, 1, 2)
        y = nn.functional.max_pool2d(images, *self.how)
        return y.permute(0, 2, 3, 1).reshape(*x.shape[:-1], -1)


class Around(nn.Module):
    """A block of IMPALA's."""

    def __init__(self, shape, activation):
        super().__init__()
        self.branch = nn.Sequential(
            ACTIVATIONS[activation](), Convolution(shape, shape[2], 3, 1, 1),
            ACTIVATIONS[activation](), Convolution(shape, shape[2], 3, 1, 1))

    def forward(self, x):
        return x + self.branch(x)


def section(shape, filters, blocks, activation):
    """Layers of a section of IMPALA's, and the shape that it ends in."""
    wider = Convolution(shape, filters, 3, 1, 1)
    half = Pool(wider.out_shape, 3, 2, 1)
    around = [Around(half.out_shape, activation) for _ in range(blocks)]
    return [wider, half, *around], half.out_shape


def torso_layers(inputs, activation):
    """What learner.torso says, and how many values it ends in."""
    if not isinstance(inputs, Picture):
        return [], inputs
    layers, shape, is_bare = [], inputs.shape, False
    for element in inputs.torso.split(","):
        word, numbers = element.split(":")
        numbers = list(map(int, re.split("[x/+]", numbers)))
        is_bare = word == "residual" or (is_bare and word == "pool")
        if word == "residual":
            own, shape = section(shape, *numbers, activation)
            layers += own
            continue
        kind = {"conv": Convolution, "pool": Pool}[word]
        layers.append(kind(shape, *numbers))
        shape = layers[-1].out_shape
        layers += [ACTIVATIONS[activation]()] if word == "conv" else []
    layers += [ACTIVATIONS[activation]()] if is_bare else []
    return layers, shape[0] * shape[1] * shape[2]


class Noisy(nn.Linear):
    """Factorized: an output's noise is that of its group; set from outside, each time."""

    def __init__(self, inputs, outputs, group=1):
        super().__init__(inputs, outputs)
        self.group = group
        self.deviation = nn.Parameter(0.5 * torch.randn(outputs, inputs))
        self.bias_deviation = nn.Parameter(0.5 * torch.randn(outputs))

    def take(self, noise):
        """What it leaves of the list."""
        count = self.in_features + self.out_features // self.group
        own = torch.tensor(noise[:count])
        self.of_inputs = own[:self.in_features]
        self.of_outputs = own[self.in_features:].repeat_interleave(self.group)
        return noise[count:]

    def forward(self, x):
        added = nn.functional.linear(x * self.of_inputs, self.deviation, self.bias_deviation)
        return super().forward(x) + self.of_outputs * added


def hidden_layers(inputs, hidden, activation, first_norm, norm, noisy=0):
    """What learner.hidden says, and how wide it ends."""
    if hidden.startswith("simba:"):
        width, blocks = map(int, hidden[len("simba:"):].split("x"))
        return [nn.Linear(inputs, width), *(Block(width, activation) for _ in range(blocks)),
                nn.LayerNorm(width, eps=1e-5)], width
    layers, width = [], inputs
    widths = list(map(int, filter(None, hidden.split(","))))
    for i, next_width in enumerate(widths):
        layers.append((Noisy if i + noisy >= len(widths) else nn.Linear)(width, next_width))
        is_first = first_norm and i == 0
        if norm or is_first:
            layers.append(nn.LayerNorm(next_width, eps=1e-5))
        layers.append(nn.Tanh() if is_first else ACTIVATIONS[activation]())
        width = next_width
    return layers, width


def network(inputs, hidden, outputs, activation, first_norm=False, norm=False, last=None, noisy=0,
            group=1):
    torso, width = torso_layers(inputs, activation)
    layers, width = hidden_layers(width, hidden, activation, first_norm, norm, max(0, noisy - 1))
    layers = torso + layers
    layers.append(Noisy(width, outputs, group) if noisy else nn.Linear(width, outputs))
    if last is not None:
        layers.append(last)
    net = nn.Sequential(*layers)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.copy_(single(parameter + 0.1 * torch.randn_like(parameter)))
    return net


class Case:
    tolerance = None

    def __init__(self, algorithm, settings, inputs, actions, rows, bounds=None):
        self.algorithm, self.settings = algorithm, settings
        if isinstance(inputs, tuple):
            inputs = Picture(inputs, settings["learner.torso"])
        self.counts = actions if isinstance(actions, tuple) else ()
        actions = sum(self.counts) or actions
        self.inputs, self.actions, self.rows, self.bounds = inputs, actions, rows, bounds

    def get(self, name, default):
        return self.settings.get("learner." + name, default)

    def batch(self):
        rows = self.rows
        self.obs, self.next_obs = (single(torch.randn(rows, self.inputs)) for _ in range(2))
        self.reward = single(2 * torch.randn(rows))
        self.bootstrap = single(torch.where(torch.arange(rows) % 3 == 2, torch.tensor(0.0),
                                            torch.full((rows,), 0.95)))
        self.weight = single(0.2 + 0.8 * torch.rand(rows))
        if self.bounds:
            low, high = self.bounds
            self.action = single(low + (high - low) * torch.rand(rows, self.actions))
            self.unit = (self.action - (low + high) / 2) / ((high - low) / 2)
        else:
            self.action = torch.randint(self.actions, (rows,))
        for name in ("obs", "next_obs", "action", "reward", "bootstrap", "weight"):
            record(name, getattr(self, name))

    def run(self):
        print(f"case,{self.algorithm}")
        for key, value in self.settings.items():
            text = str(value).lower() if isinstance(value, bool) else value
            print(f"set,{key}={text}")
        if self.tolerance:
            record("tolerance", self.tolerance)
        record("task", self.inputs, self.actions, self.rows, *(self.bounds or ()))
        if isinstance(self.inputs, Picture):
            record("picture", *self.inputs.shape)
        if self.counts:
            record("choices", *self.counts)
        clip = self.get("gradient_clip", 10)
        self.clip = clip if clip else float("inf")
        self.make()
        record("parameters", *self.kept())
        for step in range(1, STEPS + 1):
            self.batch()
            self.step(step)
        record("online", *self.kept())
        if self.target:
            record("target", *self.parameters(self.target))

    def optimizer(self, parameters, rate=None, decays=True):
        rate = rate or self.settings["learner.learning_rate"]
        if self.get("optimizer", "adam") == "rmsprop":
            return torch.optim.RMSprop(parameters, rate, eps=1e-8)
        decay = self.get("weight_decay", 0) if decays else 0
        return torch.optim.AdamW(parameters, rate, eps=self.get("adam_epsilon", 1e-8),
                                 weight_decay=decay)

    @staticmethod
    def parameters(nets):
        return [parameter for net in nets for parameter in net.parameters()]

    def kept(self):
        """All that checkpoints call parameters."""
        return self.parameters(self.online)

    def follow(self, is_time=True):
        tau, period = self.get("tau", 0), self.get("target_period", 300)
        self.count = getattr(self, "count", 0) + 1
        share = tau if tau and is_time else 1 if not tau and self.count % period == 0 else 0
        with torch.no_grad():
            for new, old in zip(self.parameters(self.online), self.parameters(self.target)):
                old += share * (new - old)
