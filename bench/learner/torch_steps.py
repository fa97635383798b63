#!/usr/bin/env python3
"""Training steps a second in PyTorch, at the sizes of `actorq bench learner`.

    bench/learner/torch_steps.py [TEXT] [--on cpu|gpu|gpu-graphs]

Rows whose name has TEXT in it. Prints one JSON object. The steps are what our learner does, written
the way PyTorch is written: modules, autograd, torch.optim.Adam, clip_grad_norm_. Rows whose name
ends in _bf16 are the same under its autocast. Each number is the median of some slices; each number
of threads has a process of its own.

On a GPU the batches lie there already, Adam is the fused one, and a slice ends when the GPU is
done; `gpu-graphs` records four steps as one CUDA graph and plays that, without what comes every
hundredth step, the copy into the target network.
"""
import argparse
import functools
import json
import math
import os
import statistics
import subprocess
import sys
import time

SLICES, SLICE_S = 7, 0.5
RECORDED = 4  # steps: an epoch of PPO's minibatches
DEVICES = {"cpu": "cpu", "gpu": "cuda", "gpu-graphs": "cuda"}


def norm(torch, width):
    class Norm(torch.nn.LayerNorm):
        def forward(self, x):  # 1.13 has none of mixed types
            with torch.autocast(x.device.type, enabled=False):
                return super().forward(x.float())
    return Norm(width)


def simba(torch, inputs, width, blocks, outputs, *last):
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.branch = nn.Sequential(norm(torch, width), nn.Linear(width, 4 * width), nn.ReLU(),
                                        nn.Linear(4 * width, width))

        def forward(self, x):
            return x + self.branch(x)

    return nn.Sequential(nn.Linear(inputs, width), *(Block() for _ in range(blocks)),
                         norm(torch, width), nn.Linear(width, outputs), *last)


def adam_of(torch, parameters, rate, decay=None):
    parameters = list(parameters)
    extra = {"fused": True, "capturable": True} if parameters[0].is_cuda else {}
    if decay is None:
        return torch.optim.Adam(parameters, rate, **extra)
    return torch.optim.AdamW(parameters, rate, weight_decay=decay, **extra)


def optimizer(torch, parameters, rate, is_simba):
    return adam_of(torch, parameters, 1e-4, .01) if is_simba else adam_of(torch, parameters, rate)


def d4pg(torch, is_simba=False):
    nn, functional = torch.nn, torch.nn.functional
    rows, inputs, actions, atoms = 256, 17, 6, 51

    def network(widths, inputs, outputs, *last):
        layers = [nn.Linear(inputs, widths[0]), norm(torch, widths[0]), nn.Tanh()]
        for a, b in zip(widths, widths[1:]):
            layers += [nn.Linear(a, b), nn.ELU()]
        return nn.Sequential(*layers, nn.Linear(widths[-1], outputs), *last)

    def pair():
        if is_simba:
            return (simba(torch, inputs, 128, 1, actions, nn.Tanh()),
                    simba(torch, inputs + actions, 512, 2, atoms))
        return (network([256, 256, 256], inputs, actions, nn.Tanh()),
                network([512, 512, 256], inputs + actions, atoms))

    (policy, critic), (target_policy, target_critic) = pair(), pair()
    policy_adam = optimizer(torch, policy.parameters(), 1e-4, is_simba)
    critic_adam = optimizer(torch, critic.parameters(), 1e-4, is_simba)
    obs, next_obs = torch.rand(rows, inputs), torch.rand(rows, inputs)
    action, reward = torch.rand(rows, actions), torch.rand(rows)
    bootstrap = torch.full((rows,), .95)
    values = torch.linspace(-150, 150, atoms)
    spacing = 300 / (atoms - 1)
    count = 0

    def step():
        nonlocal count
        with torch.no_grad():
            next_action = target_policy(next_obs)
            p = torch.softmax(target_critic(torch.cat([next_obs, next_action], 1)), 1)
            z = (reward[:, None] + bootstrap[:, None] * values).clamp(-150, 150)
            near = (1 - (z[:, None, :] - values[None, :, None]).abs() / spacing).clamp(0, 1)
            y = (near * p[:, None, :]).sum(2)
        logits = critic(torch.cat([obs, action], 1))
        loss = -(y * torch.log_softmax(logits, 1)).sum(1).mean()
        critic_adam.zero_grad(set_to_none=True)
        loss.backward()
        a = policy(next_obs)
        at = a.detach().requires_grad_(True)
        q = (torch.softmax(critic(torch.cat([next_obs, at], 1)), 1) * values).sum(1)
        slope, = torch.autograd.grad(q.sum(), at)
        slope = slope * (1 / slope.norm(dim=1, keepdim=True).clamp(min=1))
        policy_adam.zero_grad(set_to_none=True)
        (-(slope * a).sum(1).mean()).backward()
        nn.utils.clip_grad_norm_(critic.parameters(), 40)
        nn.utils.clip_grad_norm_(policy.parameters(), 40)
        critic_adam.step()
        policy_adam.step()
        count += 1
        if count % 100 == 0:
            target_policy.load_state_dict(policy.state_dict())
            target_critic.load_state_dict(critic.state_dict())
    return step


def dqn(torch, width):
    nn, rows, inputs, actions = torch.nn, 64, 4, 2

    def network():
        return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width),
                             nn.ReLU(), nn.Linear(width, actions))
    return dqn_step(torch, network, rows, actions, lambda: torch.rand(rows, inputs))


def impala(nn, channels, side, sections):
    """Layers of IMPALA's deep network, how many channels it ends in and on how many pixels."""
    class Block(nn.Module):
        def __init__(self, filters):
            super().__init__()
            self.branch = nn.Sequential(nn.ReLU(), nn.Conv2d(filters, filters, 3, 1, 1),
                                        nn.ReLU(), nn.Conv2d(filters, filters, 3, 1, 1))

        def forward(self, x):
            return x + self.branch(x)

    layers = []
    for filters in sections:
        layers += [nn.Conv2d(channels, filters, 3, 1, 1), nn.MaxPool2d(3, 2, 1),
                   Block(filters), Block(filters)]
        channels, side = filters, (side + 1) // 2
    return layers + [nn.ReLU()], channels, side


def dqn_pictures(torch, side, convolutions, width):
    """Pictures lie as PyTorch wants them, (channels, height, width), in bytes."""
    nn, rows, actions, channels = torch.nn, 32, 6, 4

    def network():
        if convolutions == "impala":
            layers, before, across = impala(nn, channels, side, [16, 32, 32])
            return nn.Sequential(*layers, nn.Flatten(), nn.Linear(before * across * across, width),
                                 nn.ReLU(), nn.Linear(width, actions))
        layers, before, across = [], channels, side
        for filters, kernel, stride in convolutions:
            layers += [nn.Conv2d(before, filters, kernel, stride), nn.ReLU()]
            before, across = filters, (across - kernel) // stride + 1
        return nn.Sequential(*layers, nn.Flatten(), nn.Linear(before * across * across, width),
                             nn.ReLU(), nn.Linear(width, actions))

    def seen():
        return torch.randint(256, (rows, channels, side, side), dtype=torch.uint8)
    return dqn_step(torch, network, rows, actions, seen, lambda x: x.float() / 255)


def dqn_step(torch, network, rows, actions, seen, load=lambda x: x):
    nn = torch.nn
    online, target = network(), network()
    adam = adam_of(torch, online.parameters(), 1e-3)
    obs_seen, next_seen, reward = seen(), seen(), torch.rand(rows)
    action, bootstrap = torch.randint(actions, (rows, 1)), torch.full((rows,), .95)
    count = 0

    def step():
        nonlocal count
        obs, next_obs = load(obs_seen), load(next_seen)
        with torch.no_grad():
            best = online(next_obs).argmax(1, keepdim=True)
            y = reward + bootstrap * target(next_obs).gather(1, best).squeeze(1)
        q = online(obs).gather(1, action).squeeze(1)
        loss = nn.functional.huber_loss(q, y)
        adam.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(online.parameters(), 10)
        adam.step()
        count += 1
        if count % 100 == 0:
            target.load_state_dict(online.state_dict())
    return step


def ppo(torch, rows, inputs, actions, is_choice):
    """A minibatch as it is usually written: one optimizer and one clip for both networks; neither
    an entropy nor figures of the update are computed, which ours are."""
    nn, minibatches, clip = torch.nn, 4, .2
    count = minibatches * rows

    def network(outputs):
        return nn.Sequential(nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(),
                             nn.Linear(64, outputs))

    policy, value = network(actions), network(1)
    log_deviation = torch.full((actions,), math.log(.6), requires_grad=True)
    parameters = [*policy.parameters(), *value.parameters()]
    parameters += [] if is_choice else [log_deviation]
    adam = adam_of(torch, parameters, 3e-4)
    all_obs, order, at = torch.rand(count, inputs), None, 0
    all_old, all_advantages, all_targets = (torch.rand(count) for _ in range(3))
    done = torch.randint(actions, (count, 1)) if is_choice else torch.rand(count, actions)

    def log_prob(obs, chosen):
        out = policy(obs)
        if is_choice:
            return torch.log_softmax(out, 1).gather(1, chosen).squeeze(1)
        z = (chosen - out) / log_deviation.exp()
        return (-.5 * z * z - log_deviation - .5 * math.log(2 * math.pi)).sum(1)

    def step():
        nonlocal order, at
        if at % minibatches == 0:
            order = torch.randperm(count)
        part = order[at % minibatches * rows:][:rows]
        at += 1
        obs, advantage = all_obs[part], all_advantages[part]
        ratio = (log_prob(obs, done[part]) - all_old[part]).exp()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        gain = torch.min(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage).mean()
        error = ((value(obs).squeeze(1) - all_targets[part]) ** 2).mean()
        adam.zero_grad(set_to_none=True)
        (.5 * error - gain).backward()
        nn.utils.clip_grad_norm_(parameters, .5)
        adam.step()
    return step


def sac(torch, width, rows, inputs, actions, is_simba=False):
    nn, tau = torch.nn, .005

    def network(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width),
                             nn.ReLU(), nn.Linear(width, outputs))

    def make_critics():
        if is_simba:
            return [simba(torch, inputs + actions, 512, 2, 1)]
        return [network(inputs + actions, 1) for _ in range(2)]

    policy = simba(torch, inputs, 128, 1, 2 * actions) if is_simba else network(inputs, 2 * actions)
    critics, targets = make_critics(), make_critics()
    critic_parameters = [p for critic in critics for p in critic.parameters()]
    target_parameters = [p for critic in targets for p in critic.parameters()]
    log_alpha = torch.zeros((), requires_grad=True)
    policy_adam = optimizer(torch, policy.parameters(), 1e-3, is_simba)
    critic_adam = optimizer(torch, critic_parameters, 1e-3, is_simba)
    alpha_adam = adam_of(torch, [log_alpha], 1e-3)
    obs, next_obs, reward = torch.rand(rows, inputs), torch.rand(rows, inputs), torch.rand(rows)
    action, bootstrap = torch.rand(rows, actions), torch.full((rows,), .95)

    def draw(obs):
        mean, log_deviation = policy(obs).chunk(2, 1)
        deviation = log_deviation.clamp(-5, 2).exp()
        noise = torch.randn_like(mean)
        u = mean + deviation * noise
        stretch = 2 * (math.log(2) - u - nn.functional.softplus(-2 * u))
        log_prob = -.5 * noise * noise - deviation.log() - .5 * math.log(2 * math.pi) - stretch
        return torch.tanh(u), log_prob.sum(1)

    def least(nets, obs, action):
        pairs = torch.cat([obs, action], 1)
        return functools.reduce(torch.min, [net(pairs) for net in nets]).squeeze(1)

    def step():
        alpha = log_alpha.detach().exp()
        with torch.no_grad():
            next_action, log_prob = draw(next_obs)
            y = reward + bootstrap * (least(targets, next_obs, next_action) - alpha * log_prob)
        pairs = torch.cat([obs, action], 1)
        loss = sum(.5 * ((critic(pairs).squeeze(1) - y) ** 2).mean() for critic in critics)
        critic_adam.zero_grad(set_to_none=True)
        loss.backward()
        nn.utils.clip_grad_norm_(critic_parameters, 10)
        own, log_prob = draw(obs)
        for parameter in critic_parameters:
            parameter.requires_grad_(False)
        policy_adam.zero_grad(set_to_none=True)
        (alpha * log_prob - least(critics, obs, own)).mean().backward()
        for parameter in critic_parameters:
            parameter.requires_grad_(True)
        nn.utils.clip_grad_norm_(policy.parameters(), 10)
        alpha_adam.zero_grad(set_to_none=True)
        (-log_alpha * (log_prob.detach() - actions).mean()).backward()
        critic_adam.step()
        policy_adam.step()
        alpha_adam.step()
        with torch.no_grad():
            torch._foreach_mul_(target_parameters, 1 - tau)
            torch._foreach_add_(target_parameters, critic_parameters, alpha=tau)
    return step


def recorded(torch, step):
    """`step` as a CUDA graph of some steps."""
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(2 * RECORDED):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(RECORDED):
            step()
    return graph.replay


def rate(step, of_each, clock, finish):
    """Steps a second, `of_each` by a call."""
    for _ in range(5):
        step()
    rates = []
    for _ in range(SLICES):
        finish()
        steps, start = 0, clock()
        while clock() - start < SLICE_S:
            step()
            steps += of_each
        finish()
        rates.append(steps / (clock() - start))
    return statistics.median(rates)


def rate_on(torch, make, threads, place):
    """On one thread of the processor in its time, else in wall time, as our bench."""
    if place == "gpu-graphs":
        return rate(recorded(torch, make(torch)), RECORDED, time.perf_counter,
                    torch.cuda.synchronize)
    if place == "gpu":
        return rate(make(torch), 1, time.perf_counter, torch.cuda.synchronize)
    clock = time.process_time if threads == 1 else time.perf_counter
    return rate(make(torch), 1, clock, lambda: None)


def measure(threads, only, place):
    import torch
    torch.set_num_threads(threads)
    device = DEVICES[place]
    if device != "cpu":
        torch.set_default_device(device)
    makers = {"d4pg_acme": d4pg, "dqn_256x256_b64": lambda t: dqn(t, 256),
              "dqn_64x64_b64": lambda t: dqn(t, 64),
              "ppo_choices_b64": lambda t: ppo(t, 64, 4, 2, True),
              "ppo_choices_b256": lambda t: ppo(t, 256, 4, 2, True),
              "ppo_numbers_b64": lambda t: ppo(t, 64, 3, 1, False),
              "ppo_numbers_b256": lambda t: ppo(t, 256, 3, 1, False),
              "sac_256x256_b256": lambda t: sac(t, 256, 256, 17, 6),
              "sac_64x64_b100": lambda t: sac(t, 64, 100, 3, 1),
              "sac_simba": lambda t: sac(t, 0, 256, 17, 6, True),
              "d4pg_simba": lambda t: d4pg(t, True),
              "dqn_minatar": lambda t: dqn_pictures(t, 10, [(16, 3, 1)], 128),
              "dqn_nature": lambda t: dqn_pictures(t, 84, [(32, 8, 4), (64, 4, 2), (64, 3, 1)],
                                                   512),
              "dqn_impala": lambda t: dqn_pictures(t, 84, "impala", 256)}
    rows = []
    for name, make in makers.items():
        for named, is_bf16 in ((name, False), (f"{name}_bf16", True)):
            if only in named:
                # Its cache would keep weights as they were cast without gradients.
                with torch.autocast(device, torch.bfloat16, is_bf16, cache_enabled=False):
                    rows.append({"name": named, "on": place, "threads": threads,
                                 "steps_per_s": rate_on(torch, make, threads, place)})
    print(json.dumps({"version": torch.__version__, "rows": rows}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", nargs="?", default="", help="rows whose name has it are measured")
    parser.add_argument("--on", choices=DEVICES, default="cpu")
    parser.add_argument("--threads", type=int, help="in this process; left out: on the processor "
                        "with one and with two, each in a process of its own")
    arguments = parser.parse_args()
    if arguments.threads:
        measure(arguments.threads, arguments.text, arguments.on)
        return 0
    figures = {"rows": []}
    for threads in ("1", "2") if arguments.on == "cpu" else ("1",):
        environment = dict(os.environ, OPENBLAS_NUM_THREADS=threads, OMP_NUM_THREADS=threads)
        for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):
            environment.pop(name, None)
        done = subprocess.run([sys.executable, __file__, arguments.text, "--on", arguments.on,
                               "--threads", threads], env=environment, check=False,
                              stdout=subprocess.PIPE)
        if done.returncode != 0:
            return 1
        part = json.loads(done.stdout)
        figures = {"version": part["version"], "rows": figures["rows"] + part["rows"]}
    print(json.dumps(figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
