#!/usr/bin/env bash
# Builds with sanitizers of GCC and runs the tests under them (docs/reliability.md, "Sanitizers").
#   scripts/sanitize.sh asan [ARGUMENTS OF ctest]   memory, undefined behaviour, leaks: all tests but style and oclgrind
#   scripts/sanitize.sh tsan                        races: the library and the drop-in LAPACK
# A process in which something is found ends with status 99, which no test expects. Reports, but for those of undefined
# behaviour, are in build-asan/found/ or build-tsan/found/: tests need not show what a process says.
set -euo pipefail
cd "$(dirname "$0")/.."
preset=${1:?asan or tsan}
shift
build=$PWD/build-$preset
cmake --preset "$preset" >/dev/null
cmake --build --preset "$preset" | tail -n 1
rm -rf "$build/found"
mkdir "$build/found"
common=exitcode=99:log_path=$build/found/process
failed=0
tests() { ctest --test-dir "$build" --output-on-failure "$@" || failed=1; }

if [ "$preset" = tsan ]; then
  # setarch: addresses of newer kernels are more random than the sanitizer knows. Forked processes may start threads.
  export TSAN_OPTIONS=$common:die_after_fork=0
  for test in "$build"/tests/*_test; do setarch -R "$test" --gtest_brief=1 || failed=1; done
else
  # use_sigaltstack=0: LLVM gives threads another stack for signals, which is not the sanitizer's to take away.
  # handle_sigbus=0: lugpu handles it, for files that become shorter.
  # verify_asan_link_order=0: programs that the tests preload something into. allocator_may_return_null=1: libhdf5 asks
  # for more than there is where a file is damaged.
  export ASAN_OPTIONS=$common:use_sigaltstack=0:handle_sigbus=0:verify_asan_link_order=0:detect_stack_use_after_return=1
  ASAN_OPTIONS+=:allocator_may_return_null=1:strict_string_checks=1:check_initialization_order=1:strict_init_order=1
  export UBSAN_OPTIONS=$common:print_stacktrace=1
  # Kernels are not instrumented, but what leaves a buffer crashes.
  export OPENCL_LAYERS=$build/tests/libopencl_guard.so
  export LSAN_OPTIONS=suppressions=$PWD/tests/lsan.supp:print_suppressions=0
  # Leaks are searched for in the programs of GoogleTest alone: the search itself crashes in some processes of lugpu,
  # and Open MPI and Python leak too much of their own.
  tests -L googletest -E '^shared_processes_test$' "$@"
  ASAN_OPTIONS+=:detect_leaks=0
  tests -R '^shared_processes_test$' "$@"
  # Python loads these, so the sanitizer's runtime must be in it; oclgrind deletes its images as if they were smaller.
  within_python='^(lapack|scalapack|python)_test$'
  tests -LE 'googletest|style' -E "$within_python|^(python_package|oclgrind)_test$" "$@"
  runtime="$(c++ -print-file-name=libasan.so) $(c++ -print-file-name=libstdc++.so)"
  LD_PRELOAD=$runtime tests -R "$within_python" "$@"
fi
grep -lE 'ERROR: |WARNING: ThreadSanitizer|runtime error: ' "$build"/found/* 2>/dev/null && failed=1
exit "$failed"
