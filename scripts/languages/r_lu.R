# solve and determinant of R, as any program calls them: Rscript r_lu.R N RUNS
#
# Prints the version, the seconds of every run but an untimed first, and what scripts/time_languages.py checks.

arguments <- as.integer(commandArgs(trailingOnly = TRUE))
n <- arguments[1]
runs <- arguments[2]
set.seed(1)
a <- matrix(runif(n * n, -1, 1), n)
b <- runif(n, -1, 1)

put <- function(name, values) cat(name, format(values, digits = 15), "\n")

# The result of an operation, whose times it prints.
measure <- function(name, operation) {
  result <- operation()
  put(name, replicate(runs, {
    gc()  # not while it is timed
    start <- as.numeric(Sys.time())
    operation()
    as.numeric(Sys.time()) - start
  }))
  result
}

norm_inf <- function(v) norm(as.matrix(v), "I")

put("version", paste(R.version$major, R.version$minor, sep = "."))
x <- measure("solve", function() solve(a, b))
inverse <- measure("inv", function() solve(a))
determined <- measure("det", function() determinant(a))
unit <- n * 2^-53
put("solve_ratio", norm_inf(a %*% x - b) / (norm_inf(a) * norm_inf(x) * unit))
put("inv_ratio", norm_inf(a %*% inverse - diag(n)) / (norm_inf(a) * norm_inf(inverse) * unit))
put("sign", determined$sign)
put("log_abs_det", as.numeric(determined$modulus))
