"""Policies that keep a state: ppo and r2d2, for make_torch_10_steps.py."""
import copy

import torch
from torch import nn

from torch_case import Case, Picture, network, record, single, torso_layers
from torch_on_policy import OnPolicy


class Gru(nn.Module):
    """PyTorch's cell, its parameters in the order that ours have."""

    def __init__(self, inputs, width):
        super().__init__()
        like = nn.GRUCell(inputs, width)
        for name in ("weight_ih", "bias_ih", "weight_hh", "bias_hh"):
            value = getattr(like, name).detach()
            self.register_parameter(name, nn.Parameter(
                single(value + 0.1 * torch.randn_like(value))))

    def forward(self, x, state):
        return torch.gru_cell(x, state, self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)


class Recurrent(nn.Module):
    """Grus, one on the other, behind convolutions or not, and a network behind them, over whole
    sequences."""

    def __init__(self, inputs, torso, hidden, outputs, activation):
        super().__init__()
        elements = torso.split(",")
        self.widths = [int(of[len("gru:"):]) for of in elements if of.startswith("gru:")]
        if isinstance(inputs, Picture):
            inputs = Picture(inputs.shape, ",".join(elements[:-len(self.widths)]))
        layers, width = torso_layers(inputs, activation)
        self.before = nn.Sequential(*layers)
        with torch.no_grad():
            for parameter in self.before.parameters():
                parameter.copy_(single(parameter))
        self.cells = nn.ModuleList(map(Gru, [width, *self.widths[:-1]], self.widths))
        self.rest = network(self.widths[-1], hidden, outputs, activation)

    def forward(self, obs, state):
        """(rows, steps, outputs), and the state behind."""
        states, out = list(state.split(self.widths, 1)), []
        for x in self.before(obs).unbind(1):
            for i, cell in enumerate(self.cells):
                x = states[i] = cell(x, states[i])
            out.append(x)
        return self.rest(torch.stack(out, 1)), torch.cat(states, 1)


class Remembering(OnPolicy):
    """Its policy goes through whole sequences, of which minibatches are made; its values see the
    recorded states. What a step is seen by is its number."""

    def make(self):
        super().make()
        state = self.state_width()
        policy = Recurrent(self.inputs, self.get("torso", ""), self.get("hidden", ""),
                           self.actions, self.get("activation", "relu"))
        values = network(self.inputs + state, self.get("critic_hidden", ""), 1,
                         self.get("critic_activation", "relu"))
        self.online = [self.arrays, policy, values]
        self.of_policy, self.of_values = (self.parameters(of) for of in
                                          (self.online[:2], self.online[2:]))
        self.for_policy, self.for_values = (self.optimizer(of) for of in
                                            (self.of_policy, self.of_values))

        def pick(of, x):
            return of if x.is_floating_point() else of[:, :self.done.shape[1]][self.at][x]

        self.policy = lambda x: pick(policy(self.obs[:, :-1], self.state[:, 0])[0], x)
        self.values = lambda x: pick(values(torch.cat([self.obs, self.state], 2)), x)

    def state_width(self):
        return sum(int(element[len("gru:"):]) for element in self.get("torso", "").split(","))

    def batch(self):
        steps = self.settings["replay.sequence_length"] + 1
        self.state = single(0.5 * torch.randn(self.rows, steps, self.state_width()))
        super().batch()
        record("state", self.state)

    def gather(self):
        super().gather()
        self.units = [[i for i in range(self.count) if self.at[0][i] == row]
                      for row in range(self.rows)]

    def seen(self):
        return torch.arange(self.count)


class R2d2(Case):
    """Row by row, by the definitions."""

    def make(self):
        self.is_dueling = self.get("dueling", False)
        self.online = [Recurrent(self.inputs, self.get("torso", ""), self.get("hidden", ""),
                                 self.actions + self.is_dueling, self.get("activation", "relu"))]
        self.target = copy.deepcopy(self.online)
        self.of_all = self.optimizer(self.parameters(self.online))

    def batch(self):
        rows, steps = self.rows, self.settings["replay.sequence_length"]
        self.length = torch.randint(1, steps + 1, (rows,))
        self.length[0] = 1  # which ends while it is burned in
        self.obs = single(torch.randn(rows, steps + 1, self.inputs))
        self.reward = single(2 * torch.randn(rows, steps))
        self.bootstrap = torch.full((rows, steps), single(torch.tensor(0.95)).item())
        for row in range(0, rows, 3):
            self.bootstrap[row, self.length[row] - 1] = 0
        self.action = torch.randint(self.actions, (rows, steps))
        self.weight = single(0.2 + 0.8 * torch.rand(rows))
        self.state = single(0.5 * torch.randn(rows, steps + 1, sum(self.online[0].widths)))
        self.state[1::2, 0] = 0  # these begin their episodes
        for name in ("length", "obs", "reward", "bootstrap", "action", "weight", "state"):
            record(name, getattr(self, name))

    def values(self, net, row, first):
        """At the boundaries from the one on."""
        obs, state = self.obs[row:row + 1], self.state[row:row + 1, 0]
        if first:
            with torch.no_grad():
                _, state = net(obs[:, :first], state)
        out = net(obs[:, first:self.length[row] + 1], state)[0][0]
        if self.is_dueling:
            out = out[:, :1] + out[:, 1:] - out[:, 1:].mean(1, keepdim=True)
        return out

    def rescaled(self, x):
        if not self.get("rescale_values", False):
            return x
        return x.sign() * ((x.abs() + 1).sqrt() - 1) + 1e-3 * x

    def restored(self, y):
        if not self.get("rescale_values", False):
            return y
        root = ((1 + 4e-3 * (y.abs() + 1 + 1e-3)).sqrt() - 1) / 2e-3
        return y.sign() * (root**2 - 1)

    def row_errors(self, row):
        """(values, errors) of what is learned of a row."""
        first = 0 if not self.state[row, 0].any() else self.get("burn_in", 0)
        steps = range(first, self.length[row])
        if not steps:
            return [], []
        q = self.values(self.online[0], row, first)
        with torch.no_grad():
            target = self.values(self.target[0], row, first)
            best = (q if self.get("double_q", True) else target).argmax(1)
            worth = self.restored(target[range(len(best)), best])
        values, errors = [], []
        for t in steps:
            end, share, total = min(t + self.get("n_step", 3), self.length[row].item()), 1, 0
            for k in range(t, end):
                total = total + share * self.reward[row, k]
                share = share * self.bootstrap[row, k]
            values.append(q[t - first, self.action[row, t]])
            errors.append(values[-1] - self.rescaled(total + share * worth[end - first]))
        return values, errors

    def step(self, step):
        rows = [self.row_errors(row) for row in range(self.rows)]
        count, loss = sum(len(values) for values, _ in rows), 0
        for (_, errors), weight in zip(rows, self.weight):
            for error in errors:
                loss = loss + weight / count * nn.functional.huber_loss(
                    error, torch.tensor(0.0), delta=self.get("huber_delta", 1))
        self.of_all.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.parameters(self.online), self.clip)
        self.of_all.step()
        self.follow()
        worth = sum(self.restored(value.detach()) for values, _ in rows for value in values)
        record("step", loss, worth / count, norm)
        sizes = [torch.tensor([0.0] if not errors else [error.detach().abs() for error in errors])
                 for _, errors in rows]
        record("priority", *(0.9 * size.max() + 0.1 * size.mean() for size in sizes))
