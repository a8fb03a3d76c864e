"""LU-GPU, SC 2005: Figures 4 to 14, Tables 1 and 2."""

from papers.lu_gpu_2005.bubbles import bubbly_flow
from papers.lu_gpu_2005.counts import bytes_table, multiply_adds_table
from papers.lu_gpu_2005.flow import ENOUGH, MOST_COMPUTED, flow
from papers.lu_gpu_2005.plan import (commands_bandwidth, commands_bubbles, commands_clock,
                                     commands_counts, commands_flow, commands_lu, commands_probe,
                                     commands_units, plan_for)
from papers.lu_gpu_2005.results import left_out
from papers.lu_gpu_2005.scaling import compute_units, core_clock
from papers.lu_gpu_2005.speed import (full_pivoting, partial_pivoting, pivoting_cost,
                                      without_pivoting)
from papers.lu_gpu_2005.traffic import bandwidth, transfer
from papers.lu_gpu_2005.variants import cache_efficiency, index_pairs
from papers.pages import Figure, Paper

FIGURES = [
    Figure("fig04", "index-pairs", "Figure 4: index pairs given by the hardware",
           "Texture coordinates that the hardware gives make the program 25 % faster than "
           "coordinates computed in the kernel.",
           "pairs given by the launch are at least 1.125 times as fast at the largest n, half of "
           "the paper's gain.", commands_probe, index_pairs,
           "Index pairs computed in the kernel or given by the launch"),
    Figure("table1", "bytes", "Table 1: bytes moved",
           "Gauss-Jordan elimination moves about 8 n³ bytes and LU decomposition about 16/3 n³, in "
           "single precision.",
           "the program's model is the paper's sum to the byte, and the launches of the paper's "
           "schedule move within 5 % of it at the largest n.", commands_counts, bytes_table),
    Figure("table2", "multiply-adds", "Table 2: multiply-adds",
           "Gauss-Jordan elimination takes about n³/2 multiply-adds and LU decomposition about "
           "n³/3.",
           "the elements that the program updates are within 5 % of the paper's sum at the largest "
           "n.",
           commands_counts, multiply_adds_table),
    Figure("fig05", "no-pivoting", "Figure 5: LU without pivoting against getrf",
           "Without pivoting the time is comparable to that of ATLAS' getrf, which pivots.",
           "the time is at most twice that of getrf at the largest n that both have.",
           commands_lu, without_pivoting, "LU without pivoting against getrf",
           (("lu", "none"), ("getrf", "partial"))),
    Figure("fig06", "partial-pivoting", "Figure 6: LU with partial pivoting against getrf",
           "With partial pivoting it is 35 % faster than ATLAS' getrf at n = 3500.",
           "the speed is at least 1.35 times that of getrf at the n nearest to 3500 that both "
           "have.",
           commands_lu, partial_pivoting, "LU with partial pivoting against getrf",
           (("lu", "partial"), ("getrf", "partial"))),
    Figure("fig07", "full-pivoting", "Figure 7: LU with full pivoting against getc2",
           "With full pivoting it is an order of magnitude faster than getc2 of Intel's MKL.",
           "the speed is at least 10 times that of getc2 at the largest n that both have.",
           commands_lu, full_pivoting, "LU with full pivoting against getc2",
           (("lu", "full"), ("getc2", "full"))),
    Figure("fig08", "cost-of-pivoting", "Figure 8: cost of pivoting",
           "Partial pivoting takes at most about 2 times and full pivoting at most about 3 times "
           "the time without pivoting.",
           "the factors are at most 2 and 3 at the largest n that has all three.",
           commands_lu, pivoting_cost, "Cost of pivoting",
           (("lu", "none"), ("lu", "partial"), ("lu", "full"))),
    Figure("fig09", "compute-units", "Figure 9: number of processors",
           "The speed grows almost in proportion to the number of fragment processors (4 to 16).",
           "the speed-up from the fewest to all compute units is at least 75 % of the proportion, "
           "at the largest n.", commands_units, compute_units, "LU on a part of the compute units"),
    Figure("fig10", "clock", "Figure 10: core clock",
           "The speed grows almost in proportion to the core clock (200 to 425 MHz).",
           "the speed-up from the lowest to the highest clock is at least 75 % of the proportion.",
           commands_clock, core_clock),
    Figure("fig11", "bandwidth", "Figure 11: bandwidth",
           "LU without pivoting moves 33 GB/s by the count of Table 1, 94 % of the card's peak of "
           "35.2 GB/s.",
           "the bytes of the paper's model over the time are at least 80 % of the measured copy "
           "bandwidth at the largest n.", commands_bandwidth, bandwidth,
           "Bandwidth of LU without pivoting", (("lu", "none"),)),
    Figure("fig12", "cache-efficiency", "Figure 12: cache efficiency",
           "The algorithm is cache-efficient without knowing the cache: its speed is close to that "
           "of the same kernels when they read fixed texels, which are always in the cache.",
           "the time with fixed elements is at least 75 % of the time with the matrix, at the "
           "largest n.", commands_probe, cache_efficiency, "Cache efficiency of the update"),
    Figure("fig13", "bubbly-flow", "Figure 13: a cell of the bubbly flow",
           "For the diagonally dominant systems of a bubbly flow (n = 2048) LU without pivoting is "
           "15 % faster than ATLAS' getrf, and single precision is accurate enough.",
           "a step of all cells is at least 1.15 times as fast as with getrf, which needs no "
           "transfer, and every result passes its checks. Method, schedule and storage are those "
           "that the program chooses.", commands_bubbles, bubbly_flow, "Bubbly flow"),
    Figure("fig14", "transfer", "Figure 14: transfer and computation",
           "Transfer between CPU and GPU is negligible.",
           "upload and download take at most 5 % of the total at the largest n.",
           commands_lu, transfer, "Transfer and computation of LU without pivoting",
           (("lu", "none"),)),
    Figure("flow", "cells", "Section 6.2: the simulation of a bubbly flow",
           "A coarse grid advects the density of bubbles; about 15 % of its cells are computed at a "
           "step, each by a dense system, for which single precision without pivoting suffices.",
           f"no step leaves more than {ENOUGH:g} of its systems' residual with any method, and at "
           f"most {100 * MOST_COMPUTED:g} % of the cells are computed at a step.", commands_flow,
           flow, "Bubbly flow, cell by cell"),
]
INTRO = (
    "Written by `scripts/reproduce.py`, which measures again what the paper shows. The numbers are "
    "computed from the JSON files beside this page, which name the commands that made them. Unless "
    "said otherwise everything is in single precision, a time is the median of a factorization "
    "with the data on the device, and a verdict is about the algorithm as published: the paper's "
    "schedule on images with one element a texel (on buffers where the device has no images). The "
    "fused schedule and buffers are drawn beside it. The matrix is uniformly random as LINPACK's "
    "with pivoting, and diagonally dominant without. Ratios are of times of one run, but for "
    "Figure 9, whose runs differ in the device. A verdict is unclear if the samples, by their number "
    "and spread (95 % confidence), allow either answer.")


def rivals(record):
    """The baselines in words."""
    blas = record["libraries"]["blas"]
    return (f"getrf of {blas['name']} for {blas['core']}, {blas['threads']} threads; getc2 of "
            "LAPACK")


CITATION = ("N. Galoppo, N. K. Govindaraju, M. Henson and D. Manocha: LU-GPU: Efficient Algorithms "
            "for Solving Dense Linear Systems on Graphics Hardware, SC 2005")
PAPER = Paper(CITATION, "The figures of LU-GPU, measured again", INTRO, FIGURES, plan_for, left_out,
              rivals)
