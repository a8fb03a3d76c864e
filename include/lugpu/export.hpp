// Which names the shared library exports.
#pragma once

#if defined(__GNUC__)
#define LUGPU_API __attribute__((visibility("default")))
#else
#define LUGPU_API
#endif
