// Fan-out of one batch operation over native threads. Work is handed out in chunks from a shared counter; every chunk
// writes its own part of the result, so the result does not depend on the number of threads or their order.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

#include "helpers.h"

namespace tandem {

// Calls work(begin, end) for all of [0, count) in chunks of `chunk`, on up to `threads` threads, this one included.
// The first exception of any thread is thrown here, after all have ended.
template <typename Work>
void parallelChunks(std::size_t count, std::size_t chunk, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next{0};
  std::mutex failureMutex;
  std::exception_ptr failure;
  const auto run = [&] {
    try {
      for (;;) {
        const std::size_t begin = next.fetch_add(chunk);
        if (begin >= count) return;
        work(begin, std::min(begin + chunk, count));
      }
    } catch (...) {
      next.store(count);  // the others stop at their next chunk
      const std::lock_guard<std::mutex> lock(failureMutex);
      if (!failure) failure = std::current_exception();
    }
  };
  const std::size_t chunks = (count + chunk - 1) / chunk;
  const std::size_t helpers = std::max<std::size_t>(std::min(threads, chunks), 1) - 1;
  if (helpers == 0) {
    run();
  } else {
    const auto call = [](void* context) { (*static_cast<const decltype(run)*>(context))(); };
    shareWork(helpers, call, const_cast<void*>(static_cast<const void*>(&run)));
  }
  if (failure) std::rethrow_exception(failure);
}

// Group size for lock-step work: as few groups as possible, of equal size. A group takes as long with one lane as with
// all, so smaller groups would keep more threads busy, but none of them would end sooner.
inline std::size_t laneChunk(std::size_t count, std::size_t lanes) {
  const std::size_t groups = (count + lanes - 1) / lanes;
  return groups == 0 ? lanes : (count + groups - 1) / groups;
}

// Index of the first bad element of a batch, whichever thread meets it.
class FirstBad {
 public:
  void report(std::size_t index) {
    std::size_t seen = first_.load();
    while (index < seen && !first_.compare_exchange_weak(seen, index)) {
    }
  }
  // -1 if there is none.
  long long index() const {
    const std::size_t first = first_.load();
    return first == kNone ? -1 : static_cast<long long>(first);
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
  std::atomic<std::size_t> first_{kNone};
};

}  // namespace tandem
