#!/usr/bin/env python3
"""PPO in one file, with NumPy alone, against gymnasium's vector interface.

    python3 examples/python/ppo_numpy.py [TASK] [STEPS] [SEED]

Nothing in it is ActorQ's but the line that makes the environments. It is written as a reader of
such files expects it: a rollout, advantages, a few epochs of minibatches.
"""
import sys
import time

import numpy as np

import actorq

ENVS, ROLLOUT, EPOCHS, MINIBATCH = 16, 128, 4, 256
RATE, DISCOUNT, LAMBDA, CLIP, ENTROPY, NORM = 2.5e-3, 0.99, 0.95, 0.2, 0.01, 0.5


class Network:
    """A perceptron of two hidden layers of tanh, and Adam for it."""

    def __init__(self, rng, inputs, outputs, last_scale, width=64):
        sizes = [inputs, width, width, outputs]
        self.weights = []
        for fan_in, fan_out in zip(sizes, sizes[1:]):
            scale = last_scale if fan_out == outputs and fan_in == width else np.sqrt(2)
            q, _ = np.linalg.qr(rng.normal(size=(max(fan_in, fan_out), min(fan_in, fan_out))))
            self.weights += [scale * (q if fan_in >= fan_out else q.T), np.zeros(fan_out)]
        self.moments = [[np.zeros_like(w), np.zeros_like(w)] for w in self.weights]
        self.steps = 0

    def forward(self, x):
        self.seen = [x]
        for i in (0, 2):
            self.seen.append(np.tanh(self.seen[-1] @ self.weights[i] + self.weights[i + 1]))
        return self.seen[-1] @ self.weights[4] + self.weights[5]

    def backward(self, slope):
        """Gradients of what was seen last, for the slope of the outputs."""
        gradients = [None] * 6
        for i in (4, 2, 0):
            x = self.seen[i // 2]
            gradients[i], gradients[i + 1] = x.T @ slope, slope.sum(0)
            slope = (slope @ self.weights[i].T) * (1 - x * x)
        norm = np.sqrt(sum((g * g).sum() for g in gradients))
        return [g * min(1.0, NORM / (norm + 1e-6)) for g in gradients]

    def update(self, gradients, rate):
        self.steps += 1
        for w, g, (m, v) in zip(self.weights, gradients, self.moments):
            m += 0.1 * (g - m)
            v += 0.001 * (g * g - v)
            w -= rate * (m / (1 - 0.9 ** self.steps)) / \
                (np.sqrt(v / (1 - 0.999 ** self.steps)) + 1e-5)


def log_softmax(logits):
    logits = logits - logits.max(1, keepdims=True)
    return logits - np.log(np.exp(logits).sum(1, keepdims=True))


def advantages_of(rewards, values, ended, last_value):
    advantages, running = np.zeros_like(rewards), 0.0
    for t in reversed(range(len(rewards))):
        following = values[t + 1] if t + 1 < len(rewards) else last_value
        goes_on = 1.0 - ended[t]
        running = rewards[t] + DISCOUNT * goes_on * following - values[t] + \
            DISCOUNT * LAMBDA * goes_on * running
        advantages[t] = running
    return advantages


def improve(policy, critic, batch, rng, rate):
    obs, actions, old, advantages, targets = batch
    for _ in range(EPOCHS):
        order = rng.permutation(len(obs))
        for part in np.split(order, len(obs) // MINIBATCH):
            rows, a = np.arange(len(part)), actions[part]
            adv = advantages[part]
            adv = (adv - adv.mean()) / (adv.std() + 1e-8)
            log_p = log_softmax(policy.forward(obs[part]))
            p = np.exp(log_p)
            ratio = np.exp(log_p[rows, a] - old[part])
            free = (ratio * adv <= np.clip(ratio, 1 - CLIP, 1 + CLIP) * adv)
            weight = -(ratio * adv * free)[:, None] / len(part)
            chosen = np.zeros_like(p)
            chosen[rows, a] = 1.0
            entropy = -(p * log_p).sum(1, keepdims=True)
            slope = weight * (chosen - p) + ENTROPY * p * (log_p + entropy) / len(part)
            policy.update(policy.backward(slope), rate)
            error = critic.forward(obs[part])[:, 0] - targets[part]
            critic.update(critic.backward(error[:, None] / len(part)), rate)


def main(task="gym:CartPole-v1", steps=100_000, seed=1):
    """The mean return of the last hundred episodes."""
    rng = np.random.default_rng(seed)
    envs = actorq.make_vec(task, ENVS)  # or gymnasium.make_vec(…)
    obs, _ = envs.reset(seed=seed)
    inputs = int(np.prod(envs.single_observation_space.shape))
    policy = Network(rng, inputs, envs.single_action_space.n, 0.01)
    critic = Network(rng, inputs, 1, 1.0)
    returns, started = [], time.perf_counter()
    updates = steps // (ENVS * ROLLOUT)
    for update in range(updates):
        rows = []
        for _ in range(ROLLOUT):
            log_p = log_softmax(policy.forward(obs))
            noise = rng.gumbel(size=log_p.shape)
            action = (log_p + noise).argmax(1)
            value = critic.forward(obs)[:, 0]
            following, reward, terminated, truncated, infos = envs.step(action)
            rows.append((obs, action, log_p[np.arange(ENVS), action], value, reward,
                         terminated | truncated))
            if "final_info" in infos:
                returns += list(infos["final_info"]["episode"]["r"][infos["_final_info"]])
            obs = following
        seen, actions, old, values, rewards, ended = (np.stack(column) for column in zip(*rows))
        advantages = advantages_of(rewards.astype(float), values, ended.astype(float),
                                   critic.forward(obs)[:, 0])
        batch = (seen.reshape(-1, inputs), actions.ravel(), old.ravel(), advantages.ravel(),
                 (advantages + values).ravel())
        improve(policy, critic, batch, rng, RATE * (1 - update / updates))
    envs.close()
    mean = float(np.mean(returns[-100:]))
    print(f"{task}, seed {seed}: {updates * ENVS * ROLLOUT} steps in "
          f"{time.perf_counter() - started:.1f} s; the last 100 episodes return {mean:.1f}")
    return mean


if __name__ == "__main__":
    main(*sys.argv[1:2], *map(int, sys.argv[2:]))
