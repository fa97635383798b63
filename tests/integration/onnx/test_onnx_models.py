"""ONNX models of policies: valid for ONNX's own checker, and equal to the engine when they are run.

    test_onnx_models.py ONNX_CASES [unittest's arguments]

ONNX_CASES writes models of every layer, format and head, with what the engine makes of the same
observations. They are run by ONNX's description (onnx_runtime.py), and where it is installed by
OpenCV. Without Debian's python3-onnx nothing can be tested.
"""

import glob
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
    import cv2
except ImportError:
    cv2 = None

# Of a float, of the largest output of its model.
FP32_ERROR = 1e-5
# The same where activations are rounded to 256 levels in each layer, for the few rows in which a
# value lies between two levels and falls to the other side.
INT8_ERROR, INT8_ROWS = 3e-2, 0.05
# What OpenCV 4.6 has all operators of.
IN_OPENCV = {f"{name}_fp32" for name in ("net0", "net1", "net2", "net4", "head1", "head2", "head3",
                                         "head4", "head5", "head6")}


def error_of(made, expected):
    """The largest difference of each row, of the largest number of all."""
    size = max(1.0, np.abs(expected).max())
    return np.abs(made - expected).reshape(len(expected), -1).max(axis=1) / size


class Case:
    """A model and what is expected of it."""

    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)[:-5]
        self.model = onnx.load(path)
        self.obs = self.read("obs", self.model.graph.input[0])
        self.ends = {end.name: self.read(end.name, end) for end in self.model.graph.output}
        self.is_quantized = "int8" in self.name

    def read(self, kind, end):
        """The floats of an end, in rows."""
        values = np.fromfile(f"{self.path[:-5]}.{kind}", np.float32)
        dims = end.type.tensor_type.shape.dim
        return values.reshape(-1, dims[1].dim_value) if len(dims) > 1 else values

    def run(self):
        """All rows, as many at once as the model takes."""
        one_by_one = self.model.graph.input[0].type.tensor_type.shape.dim[0].dim_value == 1
        batches = self.obs[:, None, :] if one_by_one else self.obs[None]
        made = [onnx_runtime.run(self.model, batch) for batch in batches]
        return {name: np.concatenate([one[name] for one in made]) for name in made[0]}


class Models(unittest.TestCase):
    """Every case, one after the other."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="actorq-onnx-")
        subprocess.run([CASES, cls.folder.name], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        cls.cases = [Case(path) for path in sorted(glob.glob(f"{cls.folder.name}/*.onnx"))]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def each(self, check, choose=lambda case: True):
        """Checks the cases chosen, of which there are some, each as a subtest."""
        chosen = [case for case in self.cases if choose(case)]
        self.assertTrue(chosen)
        for case in chosen:
            with self.subTest(case.name):
                check(case)

    def test_there_are_models_of_every_kind(self):
        self.assertGreaterEqual(len(self.cases), 7 * 7 + 8)

    def test_the_checker_and_shape_inference_take_every_model(self):
        def check(case):
            onnx.checker.check_model(case.model, full_check=True)
            inferred = onnx.shape_inference.infer_shapes(case.model, check_type=True,
                                                         strict_mode=True)
            self.assertEqual(list(inferred.graph.output), list(case.model.graph.output))
        self.each(check)

    def check_choices(self, case, chosen, bound):
        """A choice is the greatest output's, or one that lies within the bound of it."""
        outputs = case.ends["outputs"]
        parts = chosen.reshape(len(outputs), -1).T
        for choice, own in zip(parts, np.array_split(outputs, len(parts), axis=1)):
            lost = own.max(axis=1) - own[np.arange(len(own)), choice]
            self.assertLess(lost.max(), 2 * bound * max(1, np.abs(outputs).max()))
        self.assertEqual(chosen.shape, case.ends["action"].shape)

    def test_a_model_gives_what_the_engine_gives(self):
        def check(case):
            made = case.run()
            self.assertEqual(set(made), set(case.ends))
            bound = INT8_ERROR if case.is_quantized else FP32_ERROR
            for name, expected in case.ends.items():
                if made[name].dtype == np.int64:
                    self.check_choices(case, made[name], bound)
                else:
                    self.assertEqual(made[name].dtype, np.float32, name)
                    self.assertEqual(made[name].shape, expected.shape, name)
                    errors = error_of(made[name], expected)
                    self.assertLess(errors.max(), bound, name)
                    self.assertLess(np.mean(errors > FP32_ERROR), INT8_ROWS, name)
        self.each(check)

    def test_products_of_quantized_layers_are_those_of_bytes(self):
        def check(case):
            types = {tensor.name: tensor.data_type for tensor in case.model.graph.initializer}
            weights = [types[name] for name in types if name.endswith("/weights")]
            self.assertEqual(set(weights), {onnx.TensorProto.INT8})
            operators = {node.op_type for node in case.model.graph.node}
            self.assertEqual("DynamicQuantizeLinear" in operators, "static" not in case.name)
            self.assertEqual("QuantizeLinear" in operators, "static" in case.name)
        self.each(check, lambda case: case.is_quantized)

    def test_a_model_says_what_it_is_of(self):
        def check(case):
            facts = {one.key: one.value for one in case.model.metadata_props}
            self.assertEqual(facts["actorq.task"], "random")
            self.assertEqual(facts["actorq.seed"], "77")
            self.assertEqual(facts["actorq.network"], "4-64r-64r-2")
            self.assertEqual(facts["actorq.spaces"], "box f32[4] -> discrete 2")
            self.assertEqual(facts["actorq.head"], "argmax")
            self.assertEqual(facts["actorq.precision"], "int8")
            self.assertEqual(case.model.producer_name, "actorq")
        self.each(check, lambda case: case.name == "net0_int8")

    @unittest.skipUnless(cv2, "no OpenCV; Debian has it as python3-opencv")
    def test_opencv_gives_what_the_engine_gives(self):
        def check(case):
            part = onnx.utils.Extractor(case.model).extract_model(["obs"], ["outputs"])
            network = cv2.dnn.readNetFromONNX(
                np.frombuffer(part.SerializeToString(), np.uint8))
            for obs, expected in zip(case.obs[:8], case.ends["outputs"]):
                network.setInput(obs[None])
                self.assertLess(error_of(network.forward(), expected[None]).max(), FP32_ERROR)
        self.each(check, lambda case: case.name in IN_OPENCV)


if __name__ == "__main__":
    CASES = sys.argv.pop(1)
    unittest.main(verbosity=2)
