#!/usr/bin/env python3
"""Learns with PyTorch, from a data set, to do what was done.

    actorq replay export runs/first/replay-0 steps.aqds
    python3 examples/python/imitate_torch.py steps.aqds

It is behavioural cloning of a task with choices: the shortest loop that reads a data set.
"""
import sys

import torch
from torch import nn

import actorq


def main(path, epochs=5, seed=1):
    """The share of the steps in which the network does what was done."""
    torch.manual_seed(seed)
    steps = actorq.DataSet(path)
    width = steps.observation_space.shape[0]
    network = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(),
                            nn.Linear(64, int(steps.action_space.n)))
    adam = torch.optim.Adam(network.parameters(), 1e-3)
    right = count = 0
    for batch in steps.batches(256, seed=seed, epochs=epochs):
        obs, action = torch.from_numpy(batch["obs"]), torch.from_numpy(batch["action"]).long()
        logits = network(obs)
        loss = nn.functional.cross_entropy(logits, action)
        adam.zero_grad()
        loss.backward()
        adam.step()
        right += int((logits.argmax(1) == action).sum())
        count += len(action)
    share = right / max(count, 1)
    print(f"{path}: {len(steps)} steps; as it was done in {share:.1%} of the times")
    return share


if __name__ == "__main__":
    main(sys.argv[1])
