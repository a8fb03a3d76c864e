# %% [markdown]
# # Smoke, and what is left of the divergence
# A fluid keeps its volume: the divergence of its velocity is zero. Every time step ends with a linear
# system for the pressure, and what the solver leaves undone is divergence that stays in the flow.
#
# Run this as a notebook (VS Code, Spyder and Jupytext know the cells) or by `python examples/fluid.py`.

# %%
import matplotlib.pyplot as plt
import numpy as np

import lugpu

GRID = (128, 128)  # cells along x and y
STEPS = 120
PUSH = (0.3, 0.5, 0.7, 0.5)  # from x, y to x, y, in widths and heights

# %% [markdown]
# ## Smoke that rises
# The library chooses a method that solves the systems directly. Halfway the smoke is pushed to the
# right, as with the mouse in `lugpu simulate fluid --window`.

# %%
smoke = lugpu.Simulation("fluid", grid=GRID, scene="smoke")
figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
for part, panel in enumerate(axes):
    if part == 2:
        smoke.push(*PUSH)
    smoke.step(STEPS // 4)
    panel.imshow(smoke.picture())
    panel.set_title(f"t = {(part + 1) * (STEPS // 4) * smoke.time_step:.2f}")
    panel.axis("off")
plt.show()

# %% [markdown]
# ## The same by a few iterations
# Games and the papers of the early 2000s make a fixed number of Jacobi's sweeps instead. The smoke
# still looks like smoke. The numbers differ.

# %%
left = {smoke.method: smoke.left()}
few = lugpu.Simulation("fluid", grid=GRID, scene="smoke", method="jacobi", iterations=20)
few.step(STEPS // 2)
few.push(*PUSH)
few.step(STEPS // 2)
left["jacobi"] = few.left()

for method, values in left.items():
    print(f"{method}: left of the divergence: {np.median(values):.1e}")

# %%
figure, panel = plt.subplots(figsize=(6, 3.5), layout="constrained")
for method, values in left.items():
    panel.semilogy(np.arange(1, STEPS + 1), values, label=method)
panel.set(xlabel="step", ylabel="left of the divergence")
panel.legend()
plt.show()

# %% [markdown]
# ## Numbers instead of colours
# `field()` is the density of the smoke in every cell, from below. Here is its mean at every height.

# %%
height = (np.arange(GRID[1]) + 0.5) / GRID[1]
figure, panel = plt.subplots(figsize=(4, 3.5), layout="constrained")
for simulation in (smoke, few):
    panel.plot(simulation.field().mean(axis=1), height, label=simulation.method)
panel.set(xlabel="mean density", ylabel="y")
panel.legend()
plt.show()
