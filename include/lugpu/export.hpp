// Which names the shared library exports.
#pragma once

#if defined(__GNUC__)
#define LUGPU_API __attribute__((visibility("default")))
#define LUGPU_LOCAL __attribute__((visibility("hidden")))
#else
#define LUGPU_API
#define LUGPU_LOCAL
#endif
