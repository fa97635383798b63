"""Networks that others trained, imported, and then run: what comes out is what they computed.

    test_import.py ACTORQ [unittest's arguments]

Arrays are written by NumPy, models by PyTorch where it is installed. What became of them is read
back as an ONNX model and run by onnx_runtime.py.
"""

import json
import os
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy as np
    import onnx
    import onnx_runtime
except ImportError as missing:
    print(f"skipped: no {missing.name}; Debian has it as python3-{missing.name}")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

ERROR = 1e-5


def layer(rng, rows, columns):
    """Weights and biases as a trained layer has them."""
    return (rng.standard_normal((rows, columns)) / columns ** 0.5).astype(np.float32), \
        rng.standard_normal(rows).astype(np.float32)


def chain(obs, layers, activation):
    """The outputs of linear layers with an activation between them."""
    for index, (weight, bias) in enumerate(layers):
        obs = obs @ weight.T + bias
        obs = activation(obs) if index + 1 < len(layers) else obs
    return obs


class Import(unittest.TestCase):
    """Each test has a folder and a generator of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="actorq-import-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.rng = np.random.default_rng(7)

    def actorq(self, *arguments):
        """Runs actorq in the folder; its result as JSON."""
        done = subprocess.run([ACTORQ, *arguments, "--json"], cwd=self.folder, check=False,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def ends(self, obs):
        """What policy.aq makes of observations."""
        self.actorq("export", "policy.aq", "--format", "onnx")
        return onnx_runtime.run(onnx.load(f"{self.folder}/policy.onnx"), obs)

    def obs(self, width):
        """Some observations."""
        return self.rng.standard_normal((16, width)).astype(np.float32)

    def save(self, names, layers, **more):
        """Layers as a state_dict has them, in a file."""
        arrays = {f"{name}.{what}": array for name, own in zip(names, layers)
                  for what, array in zip(("weight", "bias"), own)}
        np.savez(f"{self.folder}/net.npz", **arrays, **more)

    def test_values_of_choices(self):
        layers = [layer(self.rng, 32, 4), layer(self.rng, 16, 32), layer(self.rng, 2, 16)]
        self.save(("0", "2", "4"), layers)
        told = self.actorq("import", "net.npz", "--task", "gym:CartPole-v1", "--activation", "relu")
        self.assertEqual(told["network"], "4-32r-16r-2")
        obs = self.obs(4)
        expected = chain(obs, layers, lambda x: np.maximum(x, 0))
        self.assertLess(np.abs(self.ends(obs)["outputs"] - expected).max(), ERROR)

    def test_actions_in_their_own_units_beside_a_critic(self):
        policy = [layer(self.rng, 64, 3), layer(self.rng, 64, 64), layer(self.rng, 1, 64)]
        critic = [layer(self.rng, 64, 3), layer(self.rng, 1, 64)]
        self.save(("pi.0", "vf.0", "pi.2", "action_net", "value_net"),
                  (policy[0], critic[0], policy[1], policy[2], critic[1]),
                  log_std=np.array([-0.5], np.float32))
        told = self.actorq("import", "net.npz", "--task", "gym:Pendulum-v1", "--activation", "tanh",
                           "--layers", "pi,action_net", "--end", "actions")
        self.assertEqual(told["head"], "gaussian")
        obs = self.obs(3)
        ends = self.ends(obs)
        expected = chain(obs, policy, np.tanh).clip(-2, 2)
        self.assertLess(np.abs(ends["action"] - expected).max(), ERROR)
        self.assertAlmostEqual(float(ends["log_deviation"][0, 0]), -0.5 - np.log(2), 5)

    def test_what_was_imported_is_quantized_and_played(self):
        self.save(("0", "2"), [layer(self.rng, 32, 3), layer(self.rng, 1, 32)])
        self.actorq("import", "net.npz", "--task", "gym:Pendulum-v1", "--activation", "elu",
                    "--end", "tanh")
        self.actorq("quantize", "policy.aq", "int8.aq", "--rows", "256")
        told = self.actorq("eval", "int8.aq", "--episodes", "2", "--seed", "1")
        self.assertEqual(told["precision"], "int8")

    def test_the_result_says_how_norms_were_read(self):
        norm = (np.ones(16, np.float32), np.zeros(16, np.float32))
        self.save(("0", "1", "3"), [layer(self.rng, 16, 4), norm, layer(self.rng, 2, 16)])
        arguments = ["import", "net.npz", "--task", "gym:CartPole-v1", "--activation", "relu"]
        self.assertEqual(self.actorq(*arguments)["assumed_norms"], 1)
        done = subprocess.run([ACTORQ, *arguments], cwd=self.folder, check=True,
                              capture_output=True, text=True)
        self.assertIn("  norms           1, read as layer norms over all values", done.stdout)

    def test_the_result_says_which_deviations_are_held(self):
        for log_std, held in ((2.8, 1), (2.6, 0)):  # of the action; half of its range is 2
            self.save(("0",), [layer(self.rng, 1, 3)], log_std=np.array([log_std], np.float32))
            arguments = ["import", "net.npz", "--task", "gym:Pendulum-v1", "--end", "actions"]
            self.assertEqual(self.actorq(*arguments)["held_deviations"], held)
            done = subprocess.run([ACTORQ, *arguments], cwd=self.folder, check=True,
                                  capture_output=True, text=True)
            self.assertIs("  draws with      1 of 1 deviations held" in done.stdout, held == 1)

    @unittest.skipUnless(torch, "no PyTorch; Debian has it as python3-torch")
    def test_what_pytorch_saves_itself_is_called_a_pickle(self):
        for is_zip in (True, False):
            torch.save({"0.weight": torch.zeros(2, 4)}, f"{self.folder}/net.pt",
                       _use_new_zipfile_serialization=is_zip)
            done = subprocess.run([ACTORQ, "import", "net.pt", "--task", "gym:CartPole-v1"],
                                  cwd=self.folder, check=False, capture_output=True, text=True)
            self.assertEqual(done.returncode, 1)
            self.assertIn("net.pt: it is a pickle, as torch.save writes it", done.stderr)

    @unittest.skipUnless(torch, "no PyTorch; Debian has it as python3-torch")
    def test_a_model_of_pytorch_with_normalized_observations(self):
        class Net(torch.nn.Module):
            """As a normalizing wrapper exports it."""

            def __init__(self):
                super().__init__()
                self.net = torch.nn.Sequential(
                    torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 2))

            def forward(self, obs):
                """Centred, scaled, and through the layers."""
                return self.net((obs - torch.arange(4.0)) / torch.tensor([1.0, 2.0, 0.5, 3.0]))

        net, obs = Net(), self.obs(4)
        torch.onnx.export(net, torch.zeros(1, 4), f"{self.folder}/net.onnx", opset_version=13)
        told = self.actorq("import", "net.onnx", "--task", "gym:CartPole-v1")
        self.assertEqual(told["network"], "4-32t-2")
        expected = net(torch.from_numpy(obs)).detach().numpy()
        self.assertLess(np.abs(self.ends(obs)["outputs"] - expected).max(), ERROR)

    @unittest.skipUnless(torch, "no PyTorch; Debian has it as python3-torch")
    def test_models_that_end_as_heads_do(self):
        class Net(torch.nn.Module):
            """As CleanRL's TD3 ends, or its PPO is clipped."""

            def __init__(self, end):
                super().__init__()
                self.net = torch.nn.Sequential(
                    torch.nn.Linear(3, 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
                self.end = end

            def forward(self, obs):
                """The action."""
                return self.end(self.net(obs))

        scale, bias, obs = torch.tensor([2.0]), torch.tensor([0.0]), self.obs(3)
        for end in (lambda x: torch.tanh(x) * scale + bias,
                    lambda x: torch.clamp(10 * x, -2.0, 2.0)):
            net = Net(end)
            torch.onnx.export(net, torch.zeros(1, 3), f"{self.folder}/net.onnx", opset_version=13)
            self.actorq("import", "net.onnx", "--task", "gym:Pendulum-v1")
            expected = net(torch.from_numpy(obs)).detach().numpy()
            self.assertLess(np.abs(self.ends(obs)["action"] - expected).max(), 4 * ERROR)


if __name__ == "__main__":
    ACTORQ = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=2)
