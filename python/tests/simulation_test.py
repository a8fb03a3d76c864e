"""lugpu.Simulation against what is known of the flows."""

import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import threading
import unittest
import warnings

import numpy as np

import lugpu

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples/fluid.py"


class SimulationTest(unittest.TestCase):
    def test_every_scene(self):
        scenes = lugpu.simulation_scenes()
        self.assertEqual(set(scenes), {"wave", "fluid", "bubbles"})
        for physics, names in scenes.items():
            for name in names:
                with self.subTest(physics=physics, scene=name):
                    simulation = lugpu.Simulation(physics, grid=(24, 16), scene=name, inclusions=2)
                    simulation.step(2)
                    field, picture, left = simulation.field(), simulation.picture(), simulation.left()
                    self.assertEqual((field.shape, field.dtype), ((16, 24), np.float64))
                    self.assertTrue(np.isfinite(field).all())
                    self.assertEqual((picture.dtype, picture.shape[2]), (np.uint8, 3))
                    self.assertEqual((left.shape, left.dtype), ((2,), np.float64))
                    self.assertTrue((left <= 1e-3).all())
                    self.assertIsNone(simulation.trouble)
                    self.assertIsInstance(simulation.method, str)
                    self.assertGreater(simulation.time_step, 0)

    def test_left_is_below_the_tolerance(self):
        for method in ("fast-diagonal", "cg", "multigrid-cg"):
            smoke = lugpu.Simulation("fluid", grid=(48, 32), method=method, tolerance=1e-8, precision="double")
            self.assertEqual(smoke.method, method)
            smoke.step()
            smoke.step(4)
            left = smoke.left()
            self.assertEqual(left.shape, (5,))
            self.assertTrue((left <= 1e-8).all(), left)
            self.assertEqual(smoke.left().shape, (0,))
            self.assertEqual(smoke.left_name, "divergence")

    def test_iterations(self):
        smoke = lugpu.Simulation("fluid", grid=(32, 32), method="jacobi", iterations=7)
        smoke.step(3)
        self.assertEqual(smoke.iterations, 7)
        self.assertIsNone(smoke.trouble)
        self.assertGreater(smoke.left().min(), 0.01)

    def test_vortices(self):
        """The vorticity of Taylor's and Green's vortices decays as they do."""
        n, k, reynolds = 64, 2 * np.pi, 20
        flow = lugpu.Simulation("fluid", grid=(n, n), scene="vortices", reynolds=reynolds, time_step=0.005)
        flow.step(20)
        x = (np.arange(n) + 0.5) / n
        exact = 2 * k * np.outer(np.sin(k * x), np.sin(k * x)) * math.exp(-2 * k * k * 0.1 / reynolds)
        np.testing.assert_allclose(flow.field(), exact, atol=0.03 * 2 * k)

    def test_push(self):
        water = lugpu.Simulation("wave", grid=(32, 16), scene="still")
        water.push(0.25, 0.75, 0.25, 0.75)
        row, column = np.unravel_index(water.field().argmin(), (16, 32))
        self.assertIn(row, (11, 12))
        self.assertIn(column, (7, 8))
        picture = water.picture()
        self.assertEqual(picture.shape, (128, 256, 3))
        red, _, blue = picture[32, 64].astype(int)
        self.assertGreater(blue, red + 50)
        self.assertGreaterEqual(picture[96, 64].min(), 250)  # its level has risen a bit

    def test_three_dimensions(self):
        smoke = lugpu.Simulation("fluid", grid=(12, 16, 8))
        smoke.step(3)
        field = smoke.field()
        self.assertEqual(field.shape, (8, 16, 12))
        self.assertGreater(field[4, 2, 6], 0.1)
        self.assertLess(abs(field[0]).max(), 1e-3)
        with self.assertRaisesRegex(lugpu.Error, "2D"):
            smoke.profile()

    def test_cavity(self):
        cavity = lugpu.Simulation("fluid", grid=(16, 16), scene="cavity", precision="double")
        self.assertFalse(cavity.is_over())
        for _ in range(100):
            cavity.step(100)
            if cavity.is_over():
                break
        else:
            self.fail("the flow does not get steady")
        profile = cavity.profile()
        self.assertEqual(profile.shape, (36, 4))
        upwards, to_the_right = profile[:18], profile[18:]
        self.assertTrue((upwards[:, 0] == 0.5).all() and (to_the_right[:, 1] == 0.5).all())
        np.testing.assert_allclose(upwards[:, 1], [0, *(np.arange(16) + 0.5) / 16, 1])
        self.assertEqual(upwards[[0, -1], 2].tolist(), [0, 1])
        self.assertAlmostEqual(upwards[1:-1, 2].sum(), 0, delta=1e-6)
        self.assertLess(upwards[:, 2].min(), -0.1)

    def test_trouble_is_a_warning_once(self):
        smoke = lugpu.Simulation("fluid", grid=(32, 32), tolerance=1e-12)  # less than rounding leaves
        with self.assertWarnsRegex(lugpu.AccuracyWarning, r"\.$") as caught:
            smoke.step()
        self.assertEqual(caught.filename, __file__)
        self.assertEqual(smoke.trouble, str(caught.warning))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            smoke.step()

    def test_bad_input(self):
        for message, arguments in [
            ("there are: wave, fluid, bubbles", {"physics": "fire"}),
            ("there are: smoke", {"scene": "none"}),
            ('no method "none"', {"method": "none"}),
            ("precision must be one of", {"precision": "half"}),
            ("exclude one another", {"tolerance": 1e-3, "iterations": 3}),
            ("tolerance must not be negative", {"tolerance": -1.0}),
            ("tolerance must not be negative", {"tolerance": math.nan}),
            ("iterations must be from 1", {"iterations": 0}),
            ("side of the grid must be from 1", {"grid": (16, -1)}),
            ("at least 2 cells", {"grid": (16, 1)}),
            ("grid must be", {"grid": (16,)}),
            ("grid must be", {"grid": (16, 16, 16, 16)}),
            ("time step must be positive", {"time_step": 0.0}),
            ("of bubbles", {"density_ratio": 10.0}),
        ]:
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                lugpu.Simulation(**{"physics": "fluid", "grid": (16, 16)} | arguments)
        with self.assertRaises(TypeError):
            lugpu.Simulation("fluid", grid=(16.5, 16))
        with self.assertRaisesRegex(lugpu.Error, 'method="multigrid-cg" may help') as caught:
            lugpu.Simulation("fluid", grid=(16, 16), scene="obstacle", method="fast-diagonal")
        self.assertEqual(caught.exception.kind, "unsupported")
        water = lugpu.Simulation("wave", grid=(16, 16))
        with self.assertRaisesRegex(lugpu.Error, "centre lines"):
            water.profile()
        with self.assertRaisesRegex(ValueError, "count must be from 0"):
            water.step(-1)

    def test_threads_share_one(self):
        shared, alone = (lugpu.Simulation("wave", grid=(16, 16)) for _ in range(2))
        threads = [threading.Thread(target=lambda: [shared.step() for _ in range(5)]) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        alone.step(10)
        np.testing.assert_array_equal(shared.field(), alone.field())

    def test_fork(self):
        water = lugpu.Simulation("wave", grid=(16, 16))
        child = os.fork()
        if child == 0:
            status = 1
            try:
                water.step()
            except lugpu.Error as error:
                status = 0 if "forked" in str(error) else 2
            finally:
                os._exit(status)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        water.step()


class ExampleTest(unittest.TestCase):
    def test_fluid(self):
        """It runs without a display, and its numbers differ as it says."""
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, EXAMPLE], cwd=folder, env=os.environ | {"MPLBACKEND": "Agg"},
                                  text=True, capture_output=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        left = {method: float(value) for method, value in
                re.findall(r"(?m)^(\S+): .* of the divergence: ([-+.e\d]+)$", done.stdout)}
        self.assertEqual(set(left), {"fast-diagonal", "jacobi"}, done.stdout)
        self.assertLess(left["fast-diagonal"], 1e-3)
        self.assertGreater(left["jacobi"], 0.1)


if __name__ == "__main__":
    unittest.main()
