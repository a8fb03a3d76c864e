// ScaLAPACK's p?getrf and p?getrs on the host, in all processes that mpirun has started. Building
// this needs nothing of ScaLAPACK: its library is opened on demand.
#pragma once

#include <memory>

#include "baselines/contender.hpp"
#include "distributed/crew.hpp"

namespace lugpu {

/// On the first process, which has A, B, L, U and X; the others must be in work() with
/// obey_scalapack(). A is dealt to a grid of processes that is as square as their number allows, in
/// blocks of 64 x 64; each process uses one thread. Throws Unsupported if there is one process
/// alone, or one of them does not find the library.
std::unique_ptr<Contender> make_scalapack(const Problem& problem);

/// On the other processes: what make_scalapack()'s contender announces, a Task::Kind::rival.
void obey_scalapack(const Task& task);

}  // namespace lugpu
