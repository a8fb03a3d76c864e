"""The paper's Tables 1 and 2, and what else it prints."""

METHODS = ("jacobi", "gauss-seidel", "cg")
ITERATIONS = {2: 10, 3: 4}  # by dimensions
CALLS = {2: 5, 3: 6}  # of a solver in a time step
FRAME_S = 33e-3  # at most, for 30 frames a second
CARD_BYTES_PER_S = 57.6e9  # GeForce 8800 GT
# Seconds by points along each axis: of one core of a Q6600, and of a GeForce 8800 GT.
CPU_S = {
    2: {"jacobi": {32: 0, 64: 2e-3, 128: 8e-3, 256: 35e-3, 512: 298e-3},
        "gauss-seidel": {32: 0, 64: 3e-3, 128: 15e-3, 256: 60e-3, 512: 245e-3},
        "cg": {32: 0, 64: 3e-3, 128: 13e-3, 256: 56e-3, 512: 350e-3}},
    3: {"jacobi": {32: 10e-3, 64: 170e-3, 128: 1482e-3},
        "gauss-seidel": {32: 15e-3, 64: 141e-3, 128: 1208e-3},
        "cg": {32: 15e-3, 64: 239e-3, 128: 2017e-3}}}
GPU_S = {
    2: {"jacobi": {32: .290219e-3, 64: .290900e-3, 128: .293459e-3, 256: .296003e-3,
                   512: .306887e-3},
        "gauss-seidel": {32: .290032e-3, 64: .295285e-3, 128: .289818e-3, 256: .289882e-3,
                         512: .308024e-3},
        "cg": {32: .567346e-3, 64: .571604e-3, 128: .573089e-3, 256: .579169e-3,
               512: .580205e-3}},
    3: {"jacobi": {32: .408663e-3, 64: .416022e-3, 128: .424283e-3},
        "gauss-seidel": {32: .343595e-3, 64: .348235e-3, 128: .360813e-3},
        "cg": {32: .665508e-3, 64: .673512e-3, 128: .682720e-3}}}

POWER = {2: "²", 3: "³"}


def shape(grid, dimensions):
    """A grid in words: 512², 128³."""
    return f"{grid}{POWER[dimensions]}"
