// How many threads PoCL starts.
#pragma once

namespace lugpu {

/// PoCL has a thread for every processor of the machine, whatever this process may use of them, and
/// threads that wait for one another must not share a processor. Where cores().usable is less, and
/// the user has not said otherwise, PoCL is told to have so many (POCL_MAX_PTHREAD_COUNT, which all
/// versions know). Changes the environment: to be called before OpenCL starts.
void limit_threads_of_pocl();

}  // namespace lugpu
