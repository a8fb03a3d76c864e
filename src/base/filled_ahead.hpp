// Pieces that threads make while others are used.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace lugpu {

/// Pieces, which rooms take in turn, are filled in order by threads of their own; each piece in
/// parts, so that all threads share in the one that is wanted next.
class FilledAhead {
 public:
  /// fill(piece, part) is called once for each, by up to `threads` threads, at least one, and may
  /// throw. The first `rooms` pieces are begun at once, piece p >= rooms when
  /// give_back(p - rooms + 1) has been called: whoever waits for it before that waits without end.
  FilledAhead(std::size_t pieces, std::size_t parts, std::size_t rooms, std::size_t threads,
              std::function<void(std::size_t piece, std::size_t part)> fill)
      : parts_(parts), rooms_(rooms), left_(pieces, parts), fill_(std::move(fill)) {
    try {
      for (std::size_t t = 0; t < std::max<std::size_t>(threads, 1); ++t) {
        threads_.emplace_back([this] { work(); });
      }
    } catch (const std::exception&) {  // those that have started do it all
      if (threads_.empty()) throw;
    }
  }
  ~FilledAhead() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    changed_.notify_all();
  }
  FilledAhead(const FilledAhead&) = delete;
  FilledAhead& operator=(const FilledAhead&) = delete;

  /// Returns when the piece is filled; throws what filling any piece threw.
  void await(std::size_t piece) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return left_[piece] == 0 || error_; });
    if (error_) std::rethrow_exception(error_);
  }
  /// The first `pieces` pieces are not needed any more.
  void give_back(std::size_t pieces) {
    const std::lock_guard lock(mutex_);
    given_back_ = pieces;
    changed_.notify_all();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (next_ < left_.size() * parts_) {
      const std::size_t piece = next_ / parts_, part = next_ % parts_;
      ++next_;
      changed_.wait(lock, [&] { return piece < given_back_ + rooms_ || stopped_; });
      if (stopped_) return;
      lock.unlock();
      std::exception_ptr error;
      try {
        fill_(piece, part);
      } catch (...) {
        error = std::current_exception();
      }
      lock.lock();
      if (error && !error_) error_ = error, stopped_ = true;
      if (--left_[piece] == 0 || error) changed_.notify_all();
    }
  }

  const std::size_t parts_, rooms_;
  std::vector<std::size_t> left_;  // parts of each piece that are still to be filled
  const std::function<void(std::size_t, std::size_t)> fill_;
  std::size_t next_ = 0, given_back_ = 0;
  bool stopped_ = false;
  std::exception_ptr error_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::jthread> threads_;  // joined before the rest goes
};

}  // namespace lugpu
