// The style sheet of the page.
#pragma once

namespace lugpu::report {

extern const char* const kStyle;

}  // namespace lugpu::report
