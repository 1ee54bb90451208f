// Memory of tables that are read at random: it begins at a cache line, is in large pages where Linux has them, so that
// a read does not wait for its page's address, and is wiped when released.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

class LargeMemory {
 public:
  explicit LargeMemory(std::size_t sizeBytes);
  ~LargeMemory();
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;

  std::uint8_t* data() { return bytes_; }
  const std::uint8_t* data() const { return bytes_; }

 private:
  std::size_t sizeBytes_;
  std::size_t alignment_;
  std::uint8_t* bytes_;
};

}  // namespace tandem
