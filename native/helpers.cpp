// See helpers.h.
#include "helpers.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

namespace tandem {

namespace {

// Concurrent calls have threads of their own; beyond this number they share them.
constexpr std::size_t kThreadsMax = 256;

struct Offer {
  void (*work)(void*);
  void* context;
  // Helpers that are still wanted, and those that are running.
  std::size_t wanted;
  std::size_t running;
};

class Helpers {
 public:
  void share(std::size_t helpers, void (*work)(void*), void* context) {
    Offer offer{work, context, helpers, 0};
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      offers_.push_back(&offer);
      wanted_ += helpers;
      startMissing();
    }
    for (std::size_t i = 0; i < helpers; i++) offered_.notify_one();
    work(context);
    std::unique_lock<std::mutex> lock(mutex_);
    if (offer.wanted > 0) withdraw(offer);
    ended_.wait(lock, [&] { return offer.running == 0; });
  }

 private:
  // If the system starts no more threads, the running ones do the work.
  void startMissing() {
    while (idle_ < wanted_ && threads_ < kThreadsMax) {
      try {
        std::thread([this] { help(); }).detach();
      } catch (const std::system_error&) {
        return;
      }
      threads_++;
      idle_++;
    }
  }

  void withdraw(Offer& offer) {
    wanted_ -= offer.wanted;
    offer.wanted = 0;
    for (auto at = offers_.begin(); at != offers_.end(); ++at) {
      if (*at != &offer) continue;
      offers_.erase(at);
      return;
    }
  }

  [[noreturn]] void help() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      offered_.wait(lock, [&] { return !offers_.empty(); });
      Offer& offer = *offers_.front();
      offer.running++;
      wanted_--;
      idle_--;
      if (--offer.wanted == 0) offers_.pop_front();
      lock.unlock();
      offer.work(offer.context);
      lock.lock();
      idle_++;
      if (--offer.running == 0) ended_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable offered_;
  std::condition_variable ended_;
  std::deque<Offer*> offers_;
  std::size_t wanted_ = 0;
  std::size_t idle_ = 0;
  std::size_t threads_ = 0;
};

}  // namespace

void shareWork(std::size_t helpers, void (*work)(void*), void* context) {
  // Never destroyed: its threads wait until the process ends. The addon stays loaded for them (build-native.mjs).
  static Helpers* const all = new Helpers;
  all->share(helpers, work, context);
}

}  // namespace tandem
