// Threads that help with batch operations. They are started when they are first needed and stay: to start one costs
// as much as a small batch does.
#pragma once

#include <cstddef>

namespace tandem {

// Calls work(context) on this thread, and on up to `helpers` others if they are free before this one is done.
// Returns when no thread runs it any more. Helpers may call `work` late or not at all; it must not throw.
void shareWork(std::size_t helpers, void (*work)(void*), void* context);

}  // namespace tandem
