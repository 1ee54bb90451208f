// White space of a cell, as JavaScript's trim() has it, in UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {

// Valid UTF-8, or a part of it that is cut between characters.
struct Text {
  const std::uint8_t* bytes;
  std::size_t length;
};

// Bytes of the white space that `at` points to; 0 if none does.
std::size_t spaceAt(const std::uint8_t* at, const std::uint8_t* end);

Text trimmedSlowly(Text text);

inline Text trimmed(Text text) {
  const auto isEdge = [](std::uint8_t byte) { return byte > ' ' && byte < 0x80; };
  const bool isTrimmed = text.length > 0 && isEdge(text.bytes[0]) && isEdge(text.bytes[text.length - 1]);
  return isTrimmed || text.length == 0 ? text : trimmedSlowly(text);
}

// UTF-16 code units, as JavaScript counts characters.
std::size_t utf16Length(Text text);

}  // namespace tandem
