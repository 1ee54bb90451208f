// See csv-text.h.
#include "csv-text.h"

namespace tandem {

namespace {

bool isAsciiSpace(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// Of two bytes: U+00A0. Of three: U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000 and U+FEFF.
bool isWideSpace(const std::uint8_t* at, std::size_t length) {
  if (length == 2) return at[0] == 0xc2 && at[1] == 0xa0;
  const unsigned code = (at[0] & 0x0fu) << 12 | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
  return code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 || code == 0x202f ||
         code == 0x205f || code == 0x3000 || code == 0xfeff;
}

}  // namespace

std::size_t spaceAt(const std::uint8_t* at, const std::uint8_t* end) {
  if (at == end) return 0;
  if (*at < 0x80) return isAsciiSpace(*at) ? 1 : 0;
  const std::size_t length = *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
  return length < 4 && static_cast<std::size_t>(end - at) >= length && isWideSpace(at, length) ? length : 0;
}

Text trimmedSlowly(Text text) {
  const std::uint8_t* first = text.bytes;
  const std::uint8_t* end = first + text.length;
  for (std::size_t space = spaceAt(first, end); space > 0; space = spaceAt(first, end)) first += space;
  while (end > first) {
    const std::uint8_t* last = end - 1;
    while (last > first && (*last & 0xc0) == 0x80) last--;
    if (spaceAt(last, end) != static_cast<std::size_t>(end - last)) break;
    end = last;
  }
  return {first, static_cast<std::size_t>(end - first)};
}

std::size_t utf16Length(Text text) {
  std::size_t units = 0;
  for (std::size_t i = 0; i < text.length; i++) units += ((text.bytes[i] & 0xc0) != 0x80) + (text.bytes[i] >= 0xf0);
  return units;
}

}  // namespace tandem
