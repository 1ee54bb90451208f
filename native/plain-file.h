// Files that last: what base/files/atomic-file.ts and base/files/storage.ts do call by call, as one piece of work. A
// call of Node's own takes a thread of its pool and a turn of the event loop each, which costs more than most of the
// calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tandem {

// Not on this system.
constexpr long long kFilesUnsupported = -1;

// Writes and syncs a new file, renames it over `path`, and syncs the folder. Returns 0, or the error's number: then
// nothing is left of the new file.
long long writeFileDurably(const std::string& temporary, const std::string& path, const std::string& folder,
                           const std::uint8_t* contents, std::size_t length, unsigned mode);

// Adds to a file's end and syncs it; where it is new, its folder too. Returns 0, or the error's number.
long long appendFileDurably(const std::string& path, const std::string& folder, const std::uint8_t* contents,
                            std::size_t length, unsigned mode);

}  // namespace tandem
