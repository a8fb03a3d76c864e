#include "pages.hpp"

#include <map>

namespace lugpu::cli {

const Page& page_of(const std::string& command) {
  static const std::map<std::string, Page> table = {
      {"",
       {"Matrices are Matrix Market, NumPy, MATLAB, text or Harwell-Boeing files (`lugpu help "
        "formats`). The device is the first GPU, or the first device if there is none. Residuals "
        "are computed with the matrix "
        "as given and must pass the limits of LAPACK and HPL; what fails is reported as failed, "
        "without a speed. No output overwrites another output of the same run; overwriting an "
        "input or the results of an earlier benchmark takes --force.",
        {{"Make a test matrix, solve a system with it and keep X:",
          "lugpu generate random 300 -o A.npy && lugpu solve A.npy -o x.npy"},
         {"Print what a bug report needs:", "lugpu --version --verbose"}}}},
      {"devices",
       {"Each device is listed with the index that --device takes, its driver, its limits and the "
        "largest order of a matrix that fits.",
        {{"List all devices:", "lugpu devices"},
         {"For a script:", "lugpu devices --format json"}}}},
      {"solve",
       {"Without RHS, B is A times a vector of ones, so that the error of X is known. The report "
        "gives times, residuals, pivot growth, condition, error bounds and the decimal digits of "
        "X that are guaranteed.",
        {{"Solve with full pivoting in double precision, and write X:",
          "lugpu solve A.npy --pivot full --precision double -o x.npy"},
         {"Compute the determinant and the inverse too:",
          "lugpu solve A.npy --det --inverse inverse.npy"},
         {"Read A from standard input:", "cat A.npy | lugpu solve - --format npy"}}}},
      {"advise",
       {"The system is solved with every pivoting and precision. The advice goes by the backward "
        "error and the guaranteed digits first, and by time only where it differs clearly. A "
        "matrix that solve keeps sparse is given to every method for such matrices instead, and "
        "judged by the true residual.",
        {{"Which pivoting, precision and method does a system need?", "lugpu advise A.npy"},
         {"Ask for at least six digits of X:", "lugpu advise A.npy --digits 6"}}}},
      {"bench",
       {"The samples of all cases of one order take turns, so that other load on the machine "
        "affects all cases equally. A row that fails its check shows no speed. Samples and "
        "finished "
        "results are in the file of --json as they come.",
        {{"Time full pivoting, and record every sample:",
          "lugpu bench -n 64:256:*2 --pivot full --json full.json"},
         {"Compare the methods for Poisson's equation:",
          "lugpu bench --problem poisson2d --grid 32 --tolerance 1e-8"},
         {"Continue after an interrupt:",
          "lugpu bench -n 64:256:*2 --pivot full --json full.json --resume"}}}},
      {"compare",
       {"Cases are the same where every field that tells cases apart is; only the device may be "
        "another one, if each file has one. The heading says what else differs between the runs. "
        "An interval shows only what one run saw of the other load on a machine; therefore a "
        "change must show in the shortest samples too, which that leaves alone, and other programs "
        "must not have had much of the machine.",
        {{"Bench once more what full.json has:",
          "lugpu bench -n 64:256:*2 --pivot full --json again.json"},
         {"Compare the two, for a pull request:",
          "lugpu compare full.json again.json --format markdown"},
         {"In a script, which has exit status 6 if a case is slower by more than a tenth:",
          "lugpu compare full.json again.json --fail-slower 10% -q || echo slower"}}}},
      {"report",
       {"The page begins with the fastest method at each size and the ratio to each rival. Then "
        "come figures and tables of every result, those that failed with the reason and without "
        "a speed, and last what ran where. Several files are drawn together.",
        {{"One page of a benchmark:", "lugpu report full.json -o full.html"},
         {"One page of two:", "lugpu report full.json again.json -o report.html"}}}},
      {"simulate",
       {"Frames a second are the median of batches of steps, without the drawing. The phases are "
        "timed in a few steps before that, each waited for. What is left of the divergence (or of "
        "the residual of a wave's linear system) is relative to what it was before the system was "
        "solved. A step that does not reach the tolerance ends the run.",
        {{"Rain on water, with pictures:",
          "lugpu simulate wave --grid 128 --steps 50 --frames rain"},
         {"Smoke, with ten iterations of Jacobi's method for every system:",
          "lugpu simulate fluid --grid 128 --method jacobi --iterations 10 --steps 20"},
         {"The driven cavity, until it is steady:",
          "lugpu simulate fluid --scene cavity --grid 32 --profile cavity.csv"}}}},
      {"probe",
       {"This is what the device itself reaches: copies, multiply-adds, variants of one pass of "
        "elimination, and every operator: on vectors, with dense, banded and sparse matrices, and "
        "on grids in 2D and 3D. The last column is its bytes a second, over those of the copy: "
        "above 1 where vectors stay in caches or the sparse format saves columns.",
        {{"Print JSON:", "lugpu probe -n 128 --json -"},
         {"Time products and steps on grids alone:",
          "lugpu probe --probes grids,cubes -n 1024 --cubes 128 --storage buffer"}}}},
      {"tune",
       {"",
        {{"Find what is fastest, in a few seconds instead of two minutes:",
          "lugpu tune --max-time 5"},
         {"List what earlier runs found:", "lugpu tune --list"},
         {"Go by the defaults again:", "lugpu tune --forget"}}}},
      {"verify",
       {"",
        {{"Check the first device, and print nothing if it is right:", "lugpu verify -q"},
         {"List what earlier runs found wrong:", "lugpu verify --list"}}}},
      {"generate",
       {"The same seed gives the same matrix on every machine, for kinds with a prescribed "
        "condition up to rounding.",
        {{"Write a matrix on which partial pivoting loses all digits:",
          "lugpu generate wilkinson 60 -o wilkinson.mtx"},
         {"Another random matrix than that of seed 1:",
          "lugpu generate random 300 --seed 7 -o B.csv"}}}},
      {"help",
       {"",
        {{"Print the help of solve:", "lugpu help solve"},
         {"Print which files are read and written:", "lugpu help formats"}}}},
  };
  return table.at(command);
}

}  // namespace lugpu::cli
