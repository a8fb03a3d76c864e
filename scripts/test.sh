#!/usr/bin/env bash
# Installs, builds with warnings as errors into build-dev/, and runs the tests on PoCL.
#   scripts/test.sh [--all] [ARGUMENTS OF ctest]   --all: those labelled long, too
set -euo pipefail
cd "$(dirname "$0")/.."
tests=(-LE long)
if [ "${1:-}" = --all ]; then
  tests=()
  shift
fi
scripts/install_packages.sh libgtest-dev pybind11-dev python3-dev python3-venv python3-scipy python3-h5py \
  python3-jsonschema libviennacl-dev libcholmod3 liblapack-test liblapack3 libblas3 clang-format \
  dpkg-dev file lintian groff man-db mandoc bash-completion zsh fish libopenmpi-dev openmpi-bin \
  libscalapack-openmpi2.2 scalapack-mpi-test oclgrind
cmake --preset dev >/dev/null
if ! cmake --build --preset dev >build-dev/build.log; then
  grep -A 30 '^FAILED' build-dev/build.log >&2 || tail -n 20 build-dev/build.log >&2
  exit 1
fi
# Threads of OpenBLAS sleep as soon as they have nothing to do: other tests need the cores.
OPENBLAS_THREAD_TIMEOUT=4 ctest --preset dev "${tests[@]}" "$@"
