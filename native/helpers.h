// Threads that help with batch operations. They are started when they are first needed and stay: to start one costs
// as much as a small batch does.
#pragma once

#include <cstddef>

namespace tandem {

// Calls work(context) on this thread, and on up to `helpers` others where they are free before this one is done.
// Returns when nobody runs it any more. `work` may be called late, or by nobody else; it must not throw.
void shareWork(std::size_t helpers, void (*work)(void*), void* context);

}  // namespace tandem
