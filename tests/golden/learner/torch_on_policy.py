"""reinforce, a2c, ppo, trpo, impala and pqn, for make_torch_10_steps.py.

Advantages and V-trace's targets are the sums of their definitions; log-probabilities, entropies and
divergences are those of torch.distributions; the Fisher matrix times a vector is autograd's second
derivative of the divergence. Minibatches are drawn, and means moved, by xoshiro256++ (Blackman and
Vigna, 2021) behind splitmix64, Lemire's intervals (2019), and the shuffle of Fisher and Yates.
"""
import torch
from torch import nn
from torch.distributions import Categorical, Independent, Normal, kl_divergence

from torch_case import ACTIVATIONS, Case, network, record, single

WORD = 2**64 - 1


def rotate(word, bits):
    return (word << bits | word >> (64 - bits)) & WORD


class Xoshiro:
    def __init__(self, seed, stream):
        self.counter = seed
        self.counter = self.splitmix() ^ stream
        self.counter = self.splitmix()
        self.s = [self.splitmix() for _ in range(4)]

    def splitmix(self):
        self.counter = self.counter + 0x9e3779b97f4a7c15 & WORD
        word = self.counter
        word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9 & WORD
        word = (word ^ word >> 27) * 0x94d049bb133111eb & WORD
        return word ^ word >> 31

    def next(self):
        s = self.s
        result = rotate(s[0] + s[3] & WORD, 23) + s[0] & WORD
        shifted = s[1] << 17 & WORD
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = rotate(s[3], 45)
        return result

    def below(self, bound):
        while True:
            product = self.next() * bound
            if product & WORD >= 2**64 % bound:
                return product >> 64

    def uniform(self, low, high):
        return low + (high - low) * (self.next() >> 11) / 2**53

    def shuffle(self, items):
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]


def flat(tensors):
    return torch.cat([tensor.reshape(-1) for tensor in tensors])


class Several:
    """Choices that are drawn each by itself."""

    def __init__(self, logits, counts):
        self.parts = [Categorical(logits=own) for own in logits.split(counts, -1)]

    def sample(self):
        return torch.stack([part.sample() for part in self.parts], -1)

    def log_prob(self, choices):
        return sum(part.log_prob(own) for part, own in zip(self.parts, choices.unbind(-1)))

    def entropy(self):
        return sum(part.entropy() for part in self.parts)


def divergence_of(old, new):
    if isinstance(old, Several):
        return sum(kl_divergence(*parts) for parts in zip(old.parts, new.parts))
    return kl_divergence(old, new)


class OnPolicy(Case):
    """All but trpo."""

    SEED, STREAM = 1, 0x6d696e6962617463  # the run's seed, and whose draws they are
    is_by_parts = True  # policies go along minibatches
    APART = 0.3  # by so much, log-probabilities of actors differ from the learner's

    def make(self):
        hidden, critic_hidden = self.get("hidden", ""), self.get("critic_hidden", "")
        activation = self.get("activation", "relu")
        self.is_gsde = self.get("gsde", False)
        arrays = [(self.actions,)] if self.bounds else []
        if self.is_gsde:
            hidden, _, last = hidden.rpartition(",")
            arrays = [(self.actions, int(last)), (self.actions,), (self.actions, int(last))]
            self.policy = network(self.inputs, hidden, int(last), activation,
                                  last=ACTIVATIONS[activation]())
        else:
            self.policy = network(self.inputs, hidden, self.actions, activation)
        self.arrays = nn.ParameterList(
            single((0.5 if self.is_gsde and i == 2 else 0) + 0.2 * torch.randn(shape))
            for i, shape in enumerate(arrays))
        self.values = network(self.inputs, critic_hidden, 1, self.get("critic_activation", "relu"))
        self.online, self.target = [self.arrays, self.policy, self.values], []
        self.of_policy = self.parameters(self.online[:2])
        self.of_values = self.parameters(self.online[2:])
        self.for_policy = self.optimizer(self.of_policy)
        self.for_values = self.optimizer(self.of_values, self.get("critic_learning_rate", None))
        self.returns = []

    def distribution(self, obs, moved=0, holds_features=True):
        out = self.policy(obs)
        if self.counts:
            return Several(out, self.counts)
        if not self.bounds:
            return Categorical(logits=out)
        mean, log_deviation = out, self.arrays[0]
        if self.is_gsde:
            weight, bias, deviation = self.arrays
            features = out.detach() if holds_features else out
            variance = features**2 @ (deviation**2).T + 1e-6
            mean, log_deviation = out @ weight.T + bias, variance.log() / 2
        return Independent(Normal(mean + moved, log_deviation.clamp(-5, 2).exp()), 1)

    # ---- what is known before parameters change -------------------------------------------------

    def batch(self):
        """Sequences of some steps each; what lies beyond an end is noise that nobody may use."""
        rows, length = self.rows, self.settings["replay.sequence_length"]
        self.length = torch.randint(1, length + 1, (rows,))
        self.obs = single(torch.randn(rows, length + 1, self.inputs))
        self.reward = single(2 * torch.randn(rows, length))
        self.bootstrap = torch.full((rows, length), single(torch.tensor(0.95)).item())
        for row in range(0, rows, 3):
            self.bootstrap[row, self.length[row] - 1] = 0
        with torch.no_grad():
            draws = self.distribution(self.obs[:, :length])
            self.done = draws.sample()
            self.done = single(self.done) if self.bounds else self.done
            noise = self.APART * torch.randn(rows, length)
            self.actor = single(draws.log_prob(self.done) + noise)
        record("length", self.length)
        for name in ("obs", "reward", "bootstrap"):
            record(name, getattr(self, name))
        record("drawn" if self.bounds else "action", self.done)
        if self.algorithm != "pqn":
            record("log_prob", self.actor)

    def gather(self):
        """The steps there are, one after the other."""
        at = [(row, t) for row in range(self.rows) for t in range(self.length[row])]
        self.at = tuple(torch.tensor(at).T)
        self.count = len(at)
        self.x, self.drawn = self.seen(), self.done[self.at]
        self.units = [[step] for step in range(self.count)]  # that are shuffled
        with torch.no_grad():
            self.old = self.distribution(self.x).log_prob(self.drawn)
        self.log_actor = self.actor[self.at]
        self.ratio = (self.old - self.log_actor).clamp(-20, 20).exp()
        self.correction = ("vtrace" if self.algorithm == "impala"
                           else self.get("correction", "clipped"))
        is_clipping = self.algorithm == "ppo"
        self.weight = {"none": torch.ones_like(self.ratio),
                       "clipped": self.ratio.clamp(max=self.get("importance_cap", 2)),
                       "bypass": torch.ones_like(self.ratio) if is_clipping else self.ratio,
                       "vtrace": self.ratio.clamp(max=1)}[self.correction]

    def seen(self):
        return self.obs[:, :-1][self.at]

    def reward_scale(self):
        if not self.get("normalize_rewards", False):
            return 1
        for row in range(self.rows):
            total = 0
            for t in range(self.length[row]):
                total = self.reward[row, t] + (self.bootstrap[row, t - 1] * total if t else 0)
                self.returns.append(total)
        return 1 / torch.stack(self.returns).std(unbiased=False)

    def find_advantages(self, scale):
        with torch.no_grad():
            value = self.values(self.obs)[:, :, 0]
        reward, bootstrap = scale * self.reward, self.bootstrap
        error = reward + bootstrap * value[:, 1:] - value[:, :-1]
        is_vtrace = self.correction == "vtrace"
        lam = 1 if self.algorithm == "reinforce" else self.get("gae_lambda", 0.95)
        rho = torch.ones_like(reward)
        if is_vtrace:
            rho[self.at] = self.ratio.clamp(max=1)
        sums = torch.zeros_like(value)
        for row, t in zip(*(of.tolist() for of in self.at)):
            share = 1
            for k in range(t, self.length[row]):
                sums[row, t] += share * rho[row, k] * error[row, k]
                share *= lam * rho[row, k] * bootstrap[row, k]
        target = value + sums
        advantage = sums[:, :-1]
        if is_vtrace:
            advantage = reward + bootstrap * target[:, 1:] - value[:, :-1]
        self.before, self.target_values = value[:, :-1][self.at], target[:, :-1][self.at]
        self.advantage = advantage[self.at]

    def normalized(self, advantage):
        if not self.get("normalize_advantages", True) or len(advantage) < 2:
            return advantage
        return (advantage - advantage.mean()) / (advantage.std() + 1e-8)

    # ---- steps ----------------------------------------------------------------------------------

    def step_along(self, optimizer, loss, parameters):
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(parameters, self.clip)
        optimizer.step()
        return norm

    def policy_loss(self, part):
        """Of each step, and whether it was held; its entropy; how far the policy has gone."""
        moved, most = 0, self.get("mean_noise", 0)
        if most:
            moved = single(torch.tensor([[self.rng.uniform(-most, most)
                                          for _ in range(self.actions)] for _ in part]))
        policy = self.distribution(self.x[part], moved)
        now, old, entropy = policy.log_prob(self.drawn[part]), self.old[part], policy.entropy()
        advantage = self.weight[part] * self.normalized(self.advantage[part])
        loss, is_held = -advantage * now, torch.zeros(len(part))
        if self.algorithm == "ppo":
            is_bypass = self.correction == "bypass"
            ratio = (now - (self.log_actor[part] if is_bypass else old)).exp()
            clip = self.get("clip", 0.2)
            held = ratio.clamp(1 - clip, 1 + clip) * advantage
            loss, is_held = -torch.min(ratio * advantage, held), ratio * advantage > held
        with torch.no_grad():
            apart = self.distribution(self.x[part]).log_prob(self.drawn[part]) - old
        return (loss - self.get("entropy_weight", 0) * entropy, is_held, entropy,
                apart.exp() - 1 - apart)

    def value_loss(self, part):
        value, target, before = (self.values(self.x[part])[:, 0], self.target_values[part],
                                 self.before[part])
        square, clip = (value - target)**2, self.get("value_clip", 0)
        if clip:
            held = before + (value - before).clamp(-clip, clip)
            square = torch.max(square, (held - target)**2)
        return square / 2

    def epochs(self, scale):
        is_once = self.algorithm in ("reinforce", "a2c", "impala")
        units, kl_max = self.units, self.get("kl_max", 0)
        parts = 1 if is_once else min(self.get("minibatches", 4), len(units))
        for epoch in range(1 if is_once else self.get("epochs", 10)):
            if epoch > 0 and self.get("recompute_advantages", False):
                self.find_advantages(scale)
            self.rng.shuffle(units)
            for i in range(parts):
                part = sum(units[len(units) * i // parts:len(units) * (i + 1) // parts], [])
                if self.is_by_parts:
                    of_step = self.policy_loss(part)
                    self.told.append([of.detach().sum() for of in of_step] + [len(part)])
                    if kl_max and of_step[3].mean() > 1.5 * kl_max:
                        return
                    self.norms.append(self.step_along(self.for_policy, of_step[0].mean(),
                                                      self.of_policy))
                loss = self.value_loss(part)
                self.value_norms.append(self.step_along(self.for_values, loss.mean(),
                                                        self.of_values))
                self.value_told.append((loss.detach().sum(), len(part)))

    def improve(self):
        """By all steps at once, before the epochs."""

    def step(self, step):
        self.rng = Xoshiro(self.SEED, self.STREAM ^ (step - 1))
        self.told, self.value_told, self.norms, self.value_norms = [], [], [], []
        self.gather()
        scale = self.reward_scale()
        self.find_advantages(scale)
        target, log_ratio = self.target_values, self.ratio.log()
        explained = 1 - (target - self.before).var(unbiased=False) / target.var(unbiased=False)
        self.improve()
        self.epochs(scale)
        loss, held, entropy, far, count = (sum(of) for of in zip(*self.told))
        value_loss, value_count = (sum(of) for of in zip(*self.value_told))
        w = self.weight
        is_holding = self.correction in ("clipped", "vtrace")
        record("step", loss / count, value_loss / value_count, entropy / count,
               sum(self.norms) / len(self.norms), sum(self.value_norms) / len(self.value_norms),
               explained, far / count, held / count, -log_ratio.mean(),
               (self.ratio - 1 - log_ratio).mean(), (self.ratio**2).mean() - 1,
               w.sum()**2 / (self.count * (w**2).sum()),
               (w < self.ratio).double().mean() if is_holding else 0)


class Trpo(OnPolicy):
    """What products are differences of, in single precision, is further off than rounding."""

    is_by_parts, tolerance = False, 3e-3

    def improve(self):
        """The natural gradient by conjugate gradient, and the line search."""
        kl_max, damping = self.get("kl_max", 0) or 0.01, self.get("cg_damping", 0.1)
        advantage = self.normalized(self.advantage)
        with torch.no_grad():
            old = self.distribution(self.x)

        def gain():
            ratio = (self.distribution(self.x).log_prob(self.drawn) - self.old).exp()
            return (self.weight * ratio * advantage).mean()

        def divergence():
            return divergence_of(old, self.distribution(self.x, holds_features=False)).mean()

        def product(vector):
            along = slope @ vector
            return flat(torch.autograd.grad(along, self.of_policy, retain_graph=True)) + (
                damping * vector)

        slope = flat(torch.autograd.grad(divergence(), self.of_policy, create_graph=True))
        gradient = flat(torch.autograd.grad(gain(), self.of_policy))
        x, residual, along = torch.zeros_like(gradient), gradient, gradient
        squares = enough = residual @ residual
        for _ in range(self.get("cg_steps", 15)):
            if squares <= 1e-10 * enough:
                break
            curved = product(along)
            share = squares / (along @ curved)
            x, residual = x + share * along, residual - share * curved
            squares, last = residual @ residual, squares
            along = residual + squares / last * along
        whole = (2 * kl_max / (x @ product(x))).sqrt() * x
        start, first = flat(self.of_policy).detach(), gain().detach()
        for halvings in range(10):
            nn.utils.vector_to_parameters(start + whole / 2**halvings, self.of_policy)
            with torch.no_grad():
                now, far = gain(), divergence()
            if now > first and far <= 1.5 * kl_max:
                break
        else:
            nn.utils.vector_to_parameters(start, self.of_policy)
            now = far = torch.zeros(())
        self.norms.append(gradient.norm())
        self.told.append([-now * self.count, torch.zeros(()), old.entropy().sum(),
                          far * self.count, self.count])


class Pqn(OnPolicy):
    """Q-learning on what was just done."""

    STREAM = 0x70716e6261746368

    def make(self):
        self.q = network(self.inputs, self.get("hidden", ""), self.actions,
                         self.get("activation", "relu"), norm=self.get("norm", False))
        self.online, self.target = [self.q], []
        self.of_all = self.optimizer(self.parameters(self.online))

    def distribution(self, obs):
        return Categorical(logits=torch.zeros(*obs.shape[:-1], self.actions))

    def step(self, step):
        rng, lam = Xoshiro(self.SEED, self.STREAM ^ (step - 1)), self.get("gae_lambda", 0.95)
        at = [(row, t) for row in range(self.rows) for t in range(self.length[row])]
        with torch.no_grad():
            best = self.q(self.obs).max(2).values
        wanted = {}
        for row, t in reversed(at):
            after = wanted.get((row, t + 1), best[row, t + 1])
            wanted[row, t] = self.reward[row, t] + self.bootstrap[row, t] * (
                (1 - lam) * best[row, t + 1] + lam * after)
        order, told, norms = list(range(len(at))), [], []
        parts = min(self.get("minibatches", 4), len(at))
        for _ in range(self.get("epochs", 10)):
            rng.shuffle(order)
            for i in range(parts):
                part = [at[k] for k in order[len(at) * i // parts:len(at) * (i + 1) // parts]]
                rows, steps = (torch.tensor(of) for of in zip(*part))
                value = self.q(self.obs[rows, steps])[range(len(part)), self.done[rows, steps]]
                loss = (value - torch.stack([wanted[of] for of in part]))**2 / 2
                told.append((loss.detach().sum(), value.detach().sum(), len(part)))
                norms.append(self.step_along(self.of_all, loss.mean(),
                                             self.parameters(self.online)))
        loss, value, count = (sum(of) for of in zip(*told))
        record("step", loss / count, value / count, sum(norms) / len(norms))
