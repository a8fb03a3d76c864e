// What a Context holds, and how calls of the library go through it.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "lugpu/view.hpp"
#include "opencl/context.hpp"
#include "solve/path_records.hpp"

namespace lugpu {

class Context::Implementation {
 public:
  explicit Implementation(const std::vector<Device>& devices)
      : records_(read_path_records(devices.front(), {})) {
    contexts_.reserve(devices.size());  // they do not move
    for (const Device& device : devices) contexts_.emplace_back(device);
    for (std::size_t d = 1; d < contexts_.size(); ++d) others_.push_back(&contexts_[d]);
  }

  const Device& device() const { return contexts_.front().device(); }
  /// Those that share a system with the first one, as in DenseOptions.
  const std::vector<DeviceContext*>& others() const { return others_; }
  const PathRecords& records() const { return records_; }

  /// What `action(DeviceContext&)` returns for the first device, one call at a time. Everything
  /// that it throws becomes an Error.
  template <typename Action>
  auto call(const Action& action);

 private:
  std::mutex mutex_;
  std::vector<DeviceContext> contexts_;
  std::vector<DeviceContext*> others_;
  const PathRecords records_;
  const pid_t process_ = getpid();
};

/// What `action()` returns; what it throws becomes an Error.
template <typename Action>
auto with_errors(const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    throw Error(error);  // of this type alone
  } catch (const cl::Error& error) {
    throw Error(ErrorKind::failure, describe(error) + ".");
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::failure, "This machine does not have enough memory.");
  } catch (const std::exception& error) {
    throw Error(ErrorKind::failure, std::string("Unexpected: ") + error.what() + ".");
  }
}

template <typename Action>
auto Context::Implementation::call(const Action& action) {
  return with_errors([&] {
    if (getpid() != process_) {
      throw Error(ErrorKind::failure,
                  "A forked process cannot use the device of its parent; open it after the fork.");
    }
    const std::lock_guard lock(mutex_);
    return action(contexts_.front());
  });
}

/// Throws InputError unless the view's memory can hold a matrix of its shape. name: "A", "B" ...
template <typename T>
void require_view(const View<T>& view, const char* name) {
  const std::size_t length = view.order == Order::columns ? view.rows : view.columns;
  if (view.rows == 0 || view.columns == 0) return;
  if (!view.data) throw InputError(std::string(name) + " has no elements: its pointer is null.");
  if (view.ld < length) {
    throw InputError(std::string(name) + " has the leading dimension " + std::to_string(view.ld) +
                     ", which must be at least " + std::to_string(length) + ".");
  }
}

}  // namespace lugpu
