#!/usr/bin/env python3
"""Ten training steps of each algorithm, computed by PyTorch in double precision, for our tests.

    tests/golden/learner/make_torch_10_steps.py > tests/golden/learner/torch_10_steps.txt

Networks are torch.nn modules, gradients are autograd's, optimizers are torch.optim's, clipping is
torch.nn.utils.clip_grad_norm_. What the C code is handed is rounded to float32 first. Made with
PyTorch 1.13.1 of Debian 12; the tests only read the file.

One record a line, its kind first, numbers separated by commas:

    case,<algorithm>
    set,<key>=<value>                       settings that differ from the defaults
    tolerance,<most>                        by which results may differ, where it is one of its own
    task,<inputs>,<actions>,<rows>[,<low>,<high>]   of one batch; bounds where actions are floats
    picture,<height>,<width>,<channels>     what is seen, where it is one
    choices,<...>                           of an action, where it is several at once
    parameters,<...>                        all networks: a head's arrays, layer by layer weights
                                            then biases; at last the logarithm of a temperature
    then for each step
    obs,<...>  next_obs,<...>  action,<...>  reward,<...>  bootstrap,<...>  weight,<...>
    step,<loss>,<mean value of what was done>,<norm of the (critics') gradient before clipping>
    priority,<...>
    or, on-policy, where rows are sequences, for each update
    length,<...>  obs,<...>  reward,<...>  bootstrap,<...>  drawn,<...> or action,<...>
    log_prob,<...>                          that actors said; not of pqn and r2d2
    weight,<...>                            of r2d2
    state,<...>                             that actors recorded, where a policy keeps one
    step,<all metrics, in their order; of pqn and r2d2 as above>
    and after the last step
    online,<...>                            target,<...>

What sac draws is from Philox4x32-10 (Salmon et al., 2011) and Box and Muller's transform.
"""
import copy
import math

import torch
from torch import nn

from torch_case import Case, Noisy, network, record, single
from torch_on_policy import OnPolicy, Pqn, Trpo
from torch_recurrent import R2d2, Remembering


def project(reward, bootstrap, next_p, atoms):
    """Atom by atom, as in the paper's algorithm."""
    low, high, count = atoms[0], atoms[-1], len(atoms)
    spacing = (high - low) / (count - 1)
    y = torch.zeros_like(next_p)
    for row in range(len(reward)):
        for k in range(count):
            z = min(max(reward[row] + bootstrap[row] * atoms[k], low), high)
            at = (z - low) / spacing
            below = min(int(at), count - 1)
            above = min(below + 1, count - 1)
            y[row, below] += next_p[row, k] * (1 - (at - below))
            y[row, above] += next_p[row, k] * (at - below)
    return y


def cross_entropy(logits, y):
    return -(y * torch.log_softmax(logits, 1)).sum(1)


class Values(Case):
    """dqn, c51, rainbow and qr_dqn."""

    KEY = 1  # the run's seed
    TARGETS, ONLINES = 0, 1

    def make(self):
        self.atoms = None
        width = 1
        if self.algorithm in ("c51", "rainbow"):
            width = self.get("atoms", 51)
            self.atoms = torch.linspace(self.get("value_min", -150), self.get("value_max", 150),
                                        width)
        self.has_quantiles = self.algorithm == "qr_dqn"
        if self.has_quantiles:
            width = self.get("quantiles", 25)
        self.width, self.is_dueling = width, self.get("dueling", False)
        outputs = (self.actions + self.is_dueling) * width
        self.noisy = self.get("noisy", 0)
        self.online = [network(self.inputs, self.get("hidden", ""), outputs,
                               self.get("activation", "relu"), norm=self.get("norm", False),
                               noisy=self.noisy, group=width if self.has_quantiles else 1)]
        self.target = copy.deepcopy(self.online)
        self.of_all = self.optimizer(self.parameters(self.online))

    def outputs(self, nets, obs):
        """(rows, actions, width)"""
        out = nets[0](obs).reshape(len(obs), -1, self.width)
        if self.is_dueling:
            value, advantage = out[:, :1], out[:, 1:]
            out = value + advantage - advantage.mean(1, keepdim=True)
        return out

    def kept(self):
        """Of quantiles, first the network of their means."""
        own = self.parameters(self.online)
        if not self.has_quantiles:
            return own
        last = 4 if self.noisy else 2
        means = [of.reshape(-1, self.width, *of.shape[1:]).mean(1) for of in own[-last:]]
        return own[:-last] + means + own

    def perturb(self, nets, whose, step):
        """Noise of this step, layer by layer: of the inputs, and then of the outputs."""
        layers = [layer for layer in nets[0] if isinstance(layer, Noisy)]
        count = sum(layer.in_features + layer.out_features // layer.group for layer in layers)
        normals = [normal(self.KEY, step - 1, whose, i) for i in range(count)]
        noise = [single(torch.tensor(math.copysign(math.sqrt(abs(n)), n))).item() for n in normals]
        for layer in layers:
            noise = layer.take(noise)

    def means(self, out):
        if self.atoms is None:
            return out.mean(2)
        return (torch.softmax(out, 2) * self.atoms).sum(2)

    def error_loss(self, chosen, y):
        """Of a value alone, or of all pairs of quantiles."""
        u = y[:, None] - chosen[:, :, None]
        huber = nn.functional.huber_loss(u, torch.zeros_like(u), reduction="none",
                                         delta=self.get("huber_delta", 1))
        if not self.has_quantiles:
            return huber[:, 0, 0]
        tau = (torch.arange(self.width) + 0.5) / self.width
        return ((tau[:, None] - (u.detach() < 0).double()).abs() * huber).mean(2).sum(1)

    def step(self, step):
        index = torch.arange(self.rows)
        self.perturb(self.target, self.TARGETS, step)
        self.perturb(self.online, self.ONLINES, step)
        with torch.no_grad():
            target = self.outputs(self.target, self.next_obs)
            chooser = (self.outputs(self.online, self.next_obs) if self.get("double_q", True)
                       else target)
            best = self.means(chooser).argmax(1)
            if self.atoms is None:
                y = self.reward[:, None] + self.bootstrap[:, None] * target[index, best]
            else:
                y = project(self.reward, self.bootstrap, torch.softmax(target[index, best], 1),
                            self.atoms)
        out = self.outputs(self.online, self.obs)
        chosen = out[index, self.action]
        value = self.means(out)[index, self.action]
        if self.atoms is None:
            each = self.error_loss(chosen, y)
            priority = (chosen.mean(1) - y.mean(1)).abs()
        else:
            each = priority = cross_entropy(chosen, y)
        loss = (self.weight * each).mean()
        self.of_all.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.parameters(self.online), self.clip)
        self.of_all.step()
        self.follow()
        record("step", loss, value.mean(), norm)
        record("priority", priority)


class FewValues(Values):
    """Networks so small that rounding does less."""

    tolerance = 1e-5


class ActorCritic(Case):
    """d4pg, ddpg, td3 and td3_bc. Both losses see the parameters as they are before the step."""

    def make(self):
        self.is_twin = self.algorithm in ("td3", "td3_bc")
        self.atoms, outputs = None, 1
        if self.algorithm == "d4pg":
            outputs = self.get("atoms", 51)
            self.atoms = torch.linspace(self.get("value_min", -150), self.get("value_max", 150),
                                        outputs)
        policy = network(self.inputs, self.get("hidden", ""), self.actions,
                         self.get("activation", "relu"), self.get("norm_first", False),
                         last=nn.Tanh())
        critics = [network(self.inputs + self.actions, self.get("critic_hidden", ""), outputs,
                           self.get("critic_activation", "relu"),
                           self.get("critic_norm_first", False)) for _ in range(1 + self.is_twin)]
        self.online = [policy] + critics
        self.target = copy.deepcopy(self.online)
        self.for_policy = self.optimizer(policy.parameters())
        self.for_critics = self.optimizer(self.parameters(critics),
                                          self.get("critic_learning_rate", None))

    def value(self, out):
        return out[:, 0] if self.atoms is None else (torch.softmax(out, 1) * self.atoms).sum(1)

    def critic_losses(self):
        with torch.no_grad():
            pairs = torch.cat([self.next_obs, self.target[0](self.next_obs)], 1)
            outs = [critic(pairs) for critic in self.target[1:]]
            if self.atoms is None:
                least = torch.stack([out[:, 0] for out in outs]).min(0).values
                y = self.reward + self.bootstrap * least
            else:
                y = project(self.reward, self.bootstrap, torch.softmax(outs[0], 1), self.atoms)
        outs = [critic(torch.cat([self.obs, self.unit], 1)) for critic in self.online[1:]]
        if self.atoms is None:
            each = sum(0.5 * (out[:, 0] - y) ** 2 for out in outs)
            priority = sum((out[:, 0] - y).abs() for out in outs) / len(outs)
        else:
            each = priority = cross_entropy(outs[0], y)
        return (self.weight * each).mean(), self.value(outs[0]).mean(), priority

    def policy_gradients(self):
        policy, critic = self.online[:2]
        x = self.obs if self.is_twin else self.next_obs
        action = policy(x)
        at = action.detach().requires_grad_(True)
        slope, = torch.autograd.grad(self.value(critic(torch.cat([x, at], 1))).sum(), at)
        most = 0 if self.is_twin else self.get("action_gradient_clip", 1)
        if most:
            slope = slope * (most / slope.norm(dim=1, keepdim=True)).clamp(max=1)
        loss = -(slope * action).sum(1).mean()
        if self.algorithm == "td3_bc":
            size = self.value(critic(torch.cat([x, at], 1))).abs().mean().detach()
            loss = loss / size + (self.get("bc_weight", 0.4) *
                                  nn.functional.mse_loss(action, self.unit))
        return torch.autograd.grad(loss, list(policy.parameters()))

    def step(self, step):
        is_policys = step % self.get("policy_delay", 2) == 0 if self.is_twin else True
        critics = self.parameters(self.online[1:])
        loss, value, priority = self.critic_losses()
        critic_gradients = torch.autograd.grad(loss, critics)
        policy_gradients = self.policy_gradients() if is_policys else None
        for parameter, gradient in zip(critics, critic_gradients):
            parameter.grad = gradient
        norm = nn.utils.clip_grad_norm_(critics, self.clip)
        self.for_critics.step()
        if is_policys:
            policy = list(self.online[0].parameters())
            for parameter, gradient in zip(policy, policy_gradients):
                parameter.grad = gradient
            nn.utils.clip_grad_norm_(policy, self.clip)
            self.for_policy.step()
        self.follow(is_policys)
        record("step", loss, value, norm)
        record("priority", priority)


class Implicit(Case):
    """iql, of numbers and of choices. All losses see the parameters as they are before the step."""

    def make(self):
        critic_hidden, activation = self.get("critic_hidden", ""), self.get("critic_activation",
                                                                            "relu")
        inputs, values, last = self.inputs, self.actions, None
        if self.bounds:
            inputs, values, last = self.inputs + self.actions, 1, nn.Tanh()
        self.policy = network(self.inputs, self.get("hidden", ""), self.actions,
                              self.get("activation", "relu"), last=last)
        judges = [network(inputs, critic_hidden, values, activation) for _ in range(2)]
        judges.append(network(self.inputs, critic_hidden, 1, activation))
        self.online = [self.policy] + judges
        self.target = copy.deepcopy(self.online)
        self.for_policy = self.optimizer(self.policy.parameters())
        self.for_judges = self.optimizer(self.parameters(judges))

    def taken(self, critic):
        if self.bounds:
            return critic(torch.cat([self.obs, self.unit], 1))[:, 0]
        return critic(self.obs)[torch.arange(self.rows), self.action]

    def step(self, step):
        *critics, state = self.online[1:]
        with torch.no_grad():
            least = torch.stack([self.taken(critic) for critic in self.target[1:3]]).min(0).values
            y = self.reward + self.bootstrap * state(self.next_obs)[:, 0]
        advantage = least - state(self.obs)[:, 0]
        side = (self.get("expectile", 0.7) - (advantage < 0).double()).abs()
        outs = [self.taken(critic) for critic in critics]
        loss = (self.weight * (0.5 * side * advantage ** 2 +
                               sum(0.5 * (out - y) ** 2 for out in outs))).mean()
        more = (self.get("inverse_temperature", 3) * advantage).exp().clamp(max=100).detach()
        out = self.policy(self.obs)
        if self.bounds:
            away = ((out - self.unit) ** 2).mean(1)
        else:
            away = nn.functional.cross_entropy(out, self.action, reduction="none")
        groups = [list(self.policy.parameters()), self.parameters(self.online[1:])]
        for group, of in zip(groups, [(more * away).mean(), loss]):
            for parameter, gradient in zip(group, torch.autograd.grad(of, group)):
                parameter.grad = gradient
        nn.utils.clip_grad_norm_(groups[0], self.clip)
        norm = nn.utils.clip_grad_norm_(groups[1], self.clip)
        self.for_policy.step()
        self.for_judges.step()
        self.follow()
        record("step", loss, outs[0].mean(), norm)
        record("priority", sum((out - y).abs() for out in outs) / len(outs))


def philox(key, counter):
    keys, words, mask = [key & 0xffffffff, key >> 32], list(counter), 0xffffffff
    for _ in range(10):
        a, b = 0xd2511f53 * words[0], 0xcd9e8d57 * words[2]
        words = [b >> 32 ^ words[1] ^ keys[0], b & mask, a >> 32 ^ words[3] ^ keys[1], a & mask]
        keys = [keys[0] + 0x9e3779b9 & mask, keys[1] + 0xbb67ae85 & mask]
    return words


def normal(key, draw, lane, index):
    bits = philox(key, [draw & 0xffffffff, draw >> 32, lane, index])
    u = ((bits[1] << 32 | bits[0]) >> 11) + 1
    v = (bits[3] << 32 | bits[2]) >> 11
    return math.sqrt(-2 * math.log(u / 2**53)) * math.cos(2 * math.pi * v / 2**53)


def even(key, draw, lane, count):
    bits = [b for i in range(count // 4 + 1)
            for b in philox(key, [draw & 0xffffffff, draw >> 32, lane, i])]
    return [(b >> 8) / 2**24 for b in bits[:count]]


class Soft(Case):
    """sac and cql, of numbers and of choices; dsac below."""

    KEY = 1 ^ 0x7361632064726177  # the run's seed, and whose draws they are
    EVEN_KEY = 1 ^ 0x63716c2064726177

    def make(self):
        hidden, critic_hidden = self.get("hidden", ""), self.get("critic_hidden", "")
        outputs, inputs, values = self.actions, self.inputs, self.actions
        if self.bounds:
            outputs, inputs, values = 2 * self.actions, self.inputs + self.actions, 1
        self.policy = network(self.inputs, hidden, outputs, self.get("activation", "relu"))
        if self.algorithm == "dsac":
            values = self.get("atoms", 51)
        critics = [network(inputs, critic_hidden, values, self.get("critic_activation", "relu"))
                   for _ in range(1 + (self.get("clipped_double_q", True) and
                                       self.algorithm != "dsac"))]
        self.online = [self.policy] + critics
        self.target = copy.deepcopy(critics)
        self.log_temperature = nn.Parameter(single(torch.log(torch.tensor(
            self.get("temperature", 1.0), dtype=torch.float64))))
        self.optimizers = [self.optimizer(self.policy.parameters()),
                           self.optimizer(self.parameters(critics)),
                           self.optimizer([self.log_temperature], decays=False)]

    def parameters(self, nets):
        own = super().parameters(nets)
        is_all = nets is getattr(self, "online", None) and not self.is_following
        return own + [self.log_temperature] if is_all else own

    is_following = False

    def draw(self, obs, number=0):
        """Actions and their log-probabilities."""
        mean, log_deviation = self.policy(obs).chunk(2, 1)
        noise = single(torch.tensor([[normal(self.KEY + number, self.steps - 1, row, i)
                                      for i in range(self.actions)] for row in range(self.rows)]))
        normals = torch.distributions.Normal(mean, log_deviation.clamp(-5, 2).exp())
        u = mean + normals.scale * noise
        log_prob = normals.log_prob(u) - torch.log(1 - torch.tanh(u) ** 2)
        return torch.tanh(u), log_prob.sum(1)

    def least(self, critics, obs, action=None):
        pairs = obs if action is None else torch.cat([obs, action], 1)
        return torch.stack([critic(pairs) for critic in critics]).min(0).values

    def soft_value(self, critics, obs):
        """What the policy's own actions are worth, and their entropy, of each row."""
        temperature = self.log_temperature.detach().exp()
        if self.bounds:
            action, log_prob = self.draw(obs)
            return self.least(critics, obs, action)[:, 0] - temperature * log_prob, -log_prob
        log_p = torch.log_softmax(self.policy(obs), 1)
        values = self.least(critics, obs)
        values = values if critics is self.target else values.detach()
        entropy = -(log_p.exp() * log_p).sum(1)
        return (log_p.exp() * values).sum(1) + temperature * entropy, entropy

    def gap(self, critic):
        """What all actions are worth beyond what was done, of each row."""
        if not self.bounds:
            values = critic(self.obs)
            return values.logsumexp(1) - values[torch.arange(self.rows), self.action]
        candidates = []
        with torch.no_grad():
            for number in range(self.get("conservative_actions", 4)):
                action = torch.tensor([even(self.EVEN_KEY + number, self.steps - 1, row,
                                            self.actions) for row in range(self.rows)])
                candidates += [(2 * action - 1, torch.full((self.rows,), -math.log(2.0) *
                                                           self.actions)),
                               self.draw(self.obs, 1 + number)]
        values = torch.stack([critic(torch.cat([self.obs, action], 1))[:, 0] - density
                              for action, density in candidates])
        return (values.logsumexp(0) - math.log(len(candidates)) -
                critic(torch.cat([self.obs, self.unit], 1))[:, 0])

    def critic_loss(self, critics):
        """With the mean value of what was done, and priorities."""
        with torch.no_grad():
            y = self.reward + self.bootstrap * self.soft_value(self.target, self.next_obs)[0]
        if self.bounds:
            outs = [c(torch.cat([self.obs, self.unit], 1))[:, 0] for c in critics]
        else:
            outs = [c(self.obs)[torch.arange(self.rows), self.action] for c in critics]
        loss = (self.weight * sum(0.5 * (out - y) ** 2 for out in outs)).mean()
        if self.algorithm == "cql":
            loss = loss + self.get("conservative_weight", 1) * (
                self.weight * sum(self.gap(critic) for critic in critics)).mean()
        return loss, outs[0].mean(), sum((out - y).abs() for out in outs) / len(outs)

    def step(self, step):
        self.steps = step
        critics = self.online[1:]
        loss, done, priority = self.critic_loss(critics)
        value, entropy = self.soft_value(critics, self.obs)
        share = math.log(self.actions) * self.get("target_entropy_share", 0.3)
        aim = self.get("target_entropy", -1) * self.actions if self.bounds else share
        groups = [list(self.policy.parameters()), list(super().parameters(critics)),
                  [self.log_temperature]]
        losses = [-value.mean(), loss, self.log_temperature * (entropy.detach().mean() - aim)]
        gradients = [torch.autograd.grad(of, by, retain_graph=True)
                     for of, by in zip(losses, groups)]
        norms = []
        for group, of in zip(groups, gradients):
            for parameter, gradient in zip(group, of):
                parameter.grad = gradient
            norms.append(nn.utils.clip_grad_norm_(group, self.clip))
        for optimizer in self.optimizers[:2 + self.get("learn_temperature", True)]:
            optimizer.step()
        everything, self.online, self.is_following = self.online, critics, True
        self.follow()
        self.online, self.is_following = everything, False
        record("step", loss, done, norms[1])
        record("priority", priority)


class SoftDistribution(Soft):
    """dsac: what entropy is worth moves the atoms, as a reward does."""

    def make(self):
        super().make()
        self.atoms = torch.linspace(self.get("value_min", -150), self.get("value_max", 150),
                                    self.get("atoms", 51))

    def mean(self, logits):
        return (torch.softmax(logits, 1) * self.atoms).sum(1, keepdim=True)

    def least(self, critics, obs, action=None):
        return self.mean(critics[0](torch.cat([obs, action], 1)))

    def critic_loss(self, critics):
        with torch.no_grad():
            action, log_prob = self.draw(self.next_obs)
            after = self.target[0](torch.cat([self.next_obs, action], 1))
            paid = self.reward - self.bootstrap * self.log_temperature.exp() * log_prob
            y = project(paid, self.bootstrap, torch.softmax(after, 1), self.atoms)
        logits = critics[0](torch.cat([self.obs, self.unit], 1))
        each = cross_entropy(logits, y)
        return (self.weight * each).mean(), self.mean(logits).mean(), each


def settings(**values):
    return {"learner." + key: value for key, value in values.items()}


def sequences(length, **values):
    return {"replay.selector": "queue", "replay.sequence_length": length, **settings(**values)}


def main():
    torch.manual_seed(1)
    print(f"# PyTorch {torch.__version__}")
    Values("dqn", settings(hidden="12,9", norm=True, dueling=True, learning_rate=0.001,
                           target_period=4, gradient_clip=0.5), 4, 3, 8).run()
    Values("dqn", settings(hidden="10", activation="tanh", double_q=False, tau=0.1,
                           learning_rate=0.003, huber_delta=0.3), 3, 2, 5).run()
    Values("c51", settings(hidden="11", activation="elu", dueling=True, atoms=7, value_min=-3,
                           value_max=5, learning_rate=0.002, target_period=3), 4, 3, 7).run()
    Values("c51", settings(hidden="9,8", double_q=False, atoms=6, value_min=-2, value_max=2,
                           learning_rate=0.001, tau=0.05, gradient_clip=0.2), 3, 2, 6).run()
    ActorCritic("ddpg", settings(hidden="9,7", critic_hidden="11", learning_rate=0.001,
                                 critic_learning_rate=0.003, target_period=4, gradient_clip=1),
                4, 2, 8, (-2.0, 1.0)).run()
    ActorCritic("td3", settings(hidden="8", activation="tanh", critic_hidden="10,6",
                                critic_activation="tanh", learning_rate=0.002, tau=0.1,
                                target_noise=0, gradient_clip=0), 3, 2, 7, (-1.0, 1.0)).run()
    ActorCritic("d4pg", settings(hidden="9,8", activation="elu", norm_first=True,
                                 critic_hidden="10,9", critic_activation="elu",
                                 critic_norm_first=True, atoms=11, value_min=-4, value_max=4,
                                 learning_rate=0.001, target_period=3, action_gradient_clip=0.05),
                4, 3, 8, (-1.0, 3.0)).run()
    Soft("sac", settings(hidden="9,8", activation="tanh", critic_hidden="10,7", tau=0.1,
                         learning_rate=0.002, temperature=0.3, gradient_clip=0),
         3, 2, 7, (-2.0, 1.0)).run()
    Soft("sac", settings(hidden="8", critic_hidden="9", critic_activation="elu",
                         clipped_double_q=False, learn_temperature=False, temperature=0.1,
                         target_period=3, learning_rate=0.001, gradient_clip=0.5),
         4, 1, 6, (-1.0, 1.0)).run()
    Soft("sac", settings(hidden="8,6", critic_hidden="9", critic_activation="tanh", tau=0.05,
                         learning_rate=0.002, temperature=0.5, target_entropy_share=0.6),
         3, 4, 8).run()
    OnPolicy("reinforce", sequences(5, hidden="9", critic_hidden="8", activation="tanh",
                                    learning_rate=0.002, entropy_weight=0.05),
             3, 3, 6).run()
    OnPolicy("a2c", sequences(4, hidden="8,7", critic_hidden="9", gae_lambda=0.9, gradient_clip=0.3,
                              learning_rate=0.002, critic_learning_rate=0.004, correction="bypass",
                              normalize_advantages=False, normalize_rewards=True),
             4, 2, 7, (-2.0, 1.0)).run()
    OnPolicy("ppo", sequences(5, hidden="9,8", critic_hidden="10", activation="tanh", epochs=3,
                              minibatches=4, learning_rate=0.002, entropy_weight=0.01,
                              value_clip=0.02, gradient_clip=0.5, clip=0.1),
             3, 4, 8).run()
    OnPolicy("ppo", sequences(4, hidden="8", critic_hidden="9", critic_activation="tanh", epochs=4,
                              minibatches=2, learning_rate=0.004, kl_max=0.002,
                              recompute_advantages=True, correction="none"),
             4, 2, 6, (-1.0, 1.0)).run()
    OnPolicy("ppo", sequences(3, hidden="9", critic_hidden="8", activation="elu", epochs=2,
                              minibatches=3, learning_rate=0.002, mean_noise=0.3, kl_max=0.05,
                              correction="bypass", clip=0.3),
             3, 2, 9, (-2.0, 2.0)).run()
    OnPolicy("ppo", sequences(4, hidden="8,6", critic_hidden="7", activation="tanh", gsde=True,
                              epochs=2, minibatches=2, learning_rate=0.002, entropy_weight=0.02,
                              correction="vtrace"),
             3, 2, 6, (-1.0, 1.0)).run()
    Trpo("trpo", sequences(5, hidden="9", critic_hidden="8", activation="tanh", epochs=2,
                           minibatches=2, learning_rate=0.002),
         3, 3, 8).run()
    Trpo("trpo", sequences(4, hidden="8,7", critic_hidden="9", activation="tanh", epochs=2,
                           minibatches=3, learning_rate=0.002, kl_max=0.005, cg_steps=4,
                           cg_damping=0.5, correction="bypass"),
         4, 2, 7, (-1.0, 2.0)).run()
    Trpo("trpo", sequences(4, hidden="6", critic_hidden="7", activation="tanh", gsde=True,
                           epochs=1, minibatches=2, learning_rate=0.002, cg_steps=3,
                           cg_damping=1, correction="none"),
         3, 1, 8, (-1.0, 1.0)).run()
    OnPolicy("impala", sequences(5, hidden="9", critic_hidden="8", activation="tanh",
                                 learning_rate=0.003, entropy_weight=0.01),
             3, 3, 7).run()
    OnPolicy("impala", sequences(4, hidden="8", critic_hidden="9", learning_rate=0.002,
                                 gae_lambda=1, gradient_clip=1),
             4, 2, 6, (-1.0, 1.0)).run()
    Values("dqn", settings(hidden="9", learning_rate=0.0005, optimizer="rmsprop"), 3, 2, 6).run()
    Soft("sac", settings(hidden="8", critic_hidden="9", tau=0.1, learning_rate=0.0005,
                         optimizer="rmsprop"), 3, 1, 6, (-1.0, 1.0)).run()
    OnPolicy("a2c", sequences(4, hidden="8", critic_hidden="9", learning_rate=0.0005,
                              optimizer="rmsprop"), 3, 2, 6).run()
    Values("dqn", settings(hidden="simba:5x2", learning_rate=0.001, tau=0.1, weight_decay=0.1),
           4, 3, 8).run()
    ActorCritic("d4pg", settings(hidden="simba:6x1", critic_hidden="simba:5x2", atoms=7,
                                 value_min=-3, value_max=3, learning_rate=0.001, tau=0.05,
                                 weight_decay=0.01, critic_activation="elu"),
                4, 2, 7, (-1.0, 2.0)).run()
    Soft("sac", settings(hidden="simba:5x1", critic_hidden="simba:7x2", tau=0.05,
                         learning_rate=0.001, temperature=0.01, target_entropy=-0.5,
                         clipped_double_q=False, weight_decay=0.01, gradient_clip=0),
         3, 2, 8, (-1.0, 1.0)).run()
    OnPolicy("ppo", sequences(4, hidden="simba:6x1", critic_hidden="simba:5x1", epochs=2,
                              minibatches=2, learning_rate=0.001, weight_decay=0.01),
             4, 2, 6, (-1.0, 1.0)).run()
    Values("dqn", settings(torso="conv:5x3/1,conv:3x2/2", hidden="7", learning_rate=0.001,
                           dueling=True, target_period=4), (7, 6, 2), 3, 5).run()
    Values("c51", settings(torso="conv:4x2/1", hidden="6", learning_rate=0.001, atoms=5,
                           value_min=-3, value_max=3, norm=True), (3, 4, 3), 2, 6).run()
    OnPolicy("ppo", sequences(3, torso="conv:4x3/2", hidden="6", critic_hidden="5",
                              activation="tanh", epochs=2, minibatches=2, learning_rate=0.001),
             (5, 7, 1), 3, 4).run()
    ActorCritic("td3_bc", settings(hidden="8", activation="tanh", critic_hidden="9,7", tau=0.1,
                                   critic_activation="tanh", learning_rate=0.002, target_noise=0,
                                   bc_weight=0.7), 3, 2, 7, (-2.0, 1.0)).run()
    Implicit("iql", settings(hidden="9,8", activation="tanh", critic_hidden="10", tau=0.1,
                             learning_rate=0.002, expectile=0.8, inverse_temperature=2,
                             gradient_clip=0), 3, 2, 8, (-1.0, 2.0)).run()
    Implicit("iql", settings(hidden="8", critic_hidden="9,6", critic_activation="tanh",
                             target_period=3, learning_rate=0.001, gradient_clip=0.5),
             4, 3, 7).run()
    Soft("cql", settings(hidden="8", activation="tanh", critic_hidden="9", tau=0.1,
                         critic_activation="tanh", learning_rate=0.002, temperature=0.3,
                         conservative_weight=0.7, conservative_actions=3, gradient_clip=0),
         3, 2, 6, (-2.0, 1.0)).run()
    Soft("cql", settings(hidden="8", critic_hidden="9", critic_activation="tanh", tau=0.05,
                         learning_rate=0.002, temperature=0.2, conservative_weight=2),
         3, 4, 7).run()
    Values("qr_dqn", settings(hidden="11", activation="elu", dueling=True, quantiles=7,
                              huber_delta=0.4, learning_rate=0.002, target_period=3), 4, 3, 7).run()
    Values("qr_dqn", settings(hidden="9,8", double_q=False, quantiles=5, learning_rate=0.001,
                              norm=True, tau=0.05, gradient_clip=0.2), 3, 2, 6).run()
    Pqn("pqn", sequences(5, hidden="9,8", norm=True, epochs=3, minibatches=4, gae_lambda=0.7,
                         learning_rate=0.002, gradient_clip=0.5), 3, 4, 8).run()
    Pqn("pqn", sequences(4, hidden="10", activation="tanh", epochs=2,
                         minibatches=3, learning_rate=0.001), 4, 2, 7).run()
    Values("dqn", settings(torso="residual:3x2,residual:2x1", hidden="6", learning_rate=0.001,
                           target_period=4), (6, 5, 2), 3, 4).run()
    OnPolicy("ppo", sequences(3, torso="conv:3x3/1+1,pool:2/2,residual:2x1", hidden="5",
                              critic_hidden="4", activation="elu", epochs=2, minibatches=2,
                              learning_rate=0.001), (5, 4, 1), 2, 4).run()
    Remembering("ppo", sequences(5, torso="gru:5", hidden="7", critic_hidden="6", epochs=2,
                                 activation="tanh", minibatches=3, learning_rate=0.002,
                                 entropy_weight=0.01), 3, 3, 8).run()
    Remembering("ppo", sequences(4, torso="gru:4,gru:3", hidden="", critic_hidden="8", epochs=2,
                                 minibatches=2, learning_rate=0.001, gradient_clip=0.2,
                                 recompute_advantages=True), 2, 2, 6, (-1.0, 2.0)).run()
    R2d2("r2d2", sequences(7, torso="gru:5", hidden="6", activation="tanh", burn_in=3, n_step=2,
                           dueling=True, learning_rate=0.002, target_period=4, gradient_clip=0.5),
         3, 3, 6).run()
    R2d2("r2d2", sequences(6, torso="gru:4", hidden="5", burn_in=2, n_step=3, double_q=False,
                           rescale_values=True, huber_delta=0.5, tau=0.1, learning_rate=0.001),
         2, 4, 7).run()
    R2d2("r2d2", sequences(4, torso="conv:3x2/1,gru:4", hidden="", activation="tanh", burn_in=1,
                           target_period=3, learning_rate=0.001), (4, 3, 2), 3, 5).run()
    Values("rainbow", settings(hidden="8", activation="elu", noisy=1, dueling=True, atoms=7,
                               value_min=-3, value_max=5, learning_rate=0.001,
                               target_period=3), 4, 3, 7).run()
    Values("dqn", settings(hidden="7,6", activation="tanh", noisy=3, tau=0.1,
                           learning_rate=0.001), 3, 2, 6).run()
    Values("c51", settings(torso="conv:4x2/1", hidden="6", noisy=2, norm=True, double_q=False,
                           atoms=5, value_min=-3, value_max=3, learning_rate=0.001),
           (3, 4, 3), 2, 6).run()
    Values("qr_dqn", settings(hidden="9", noisy=2, dueling=True, quantiles=5, tau=0.05,
                              learning_rate=0.001), 4, 3, 7).run()
    OnPolicy("ppo", sequences(4, hidden="8", critic_hidden="7", activation="tanh", epochs=2,
                              minibatches=2, learning_rate=0.002, entropy_weight=0.02),
             3, (3, 2), 6).run()
    Trpo("trpo", sequences(4, hidden="7", critic_hidden="8", activation="tanh", epochs=1,
                           minibatches=2, learning_rate=0.002), 3, (2, 4), 7).run()
    SoftDistribution("dsac", settings(hidden="9", critic_hidden="10,7", activation="tanh", atoms=9,
                                      critic_activation="tanh", value_min=-4, value_max=4,
                                      temperature=0.3, tau=0.1, learning_rate=0.002,
                                      gradient_clip=0.5), 3, 2, 7, (-2.0, 1.0)).run()
    SoftDistribution("dsac", settings(hidden="simba:5x1", critic_hidden="simba:6x2", atoms=11,
                                      value_min=-2, value_max=6, temperature=0.05, tau=0.05,
                                      learn_temperature=False, learning_rate=0.001,
                                      weight_decay=0.01), 4, 1, 8, (-1.0, 1.0)).run()
    FewValues("dqn", settings(hidden="", learning_rate=0.01, adam_epsilon=0.0001, huber_delta=0.5,
                              gradient_clip=0, target_period=1), 2, 3, 5).run()
    FewValues("dqn", settings(hidden="9,8,7", activation="elu", learning_rate=0.002,
                              adam_epsilon=0.00001, huber_delta=10, gradient_clip=1),
              5, 3, 7).run()


main()
