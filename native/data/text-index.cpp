// See text-index.h.
#include "text-index.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace tandem {

namespace {

std::uint32_t hashOf(Text text) {
  std::uint32_t hash = 0x811c9dc5u;
  for (std::size_t i = 0; i < text.length; i++) hash = (hash ^ text.bytes[i]) * 0x01000193u;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bu;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35u;
  return hash ^ (hash >> 16);
}

Text textOf(const TextIndex& index, std::size_t text) {
  const std::uint32_t start = text < index.count ? index.startOf(text) : 1;
  const std::uint32_t end = text < index.count ? index.ends[text] : 0;
  if (start > end || end > index.unitsMax) throw std::invalid_argument("a text is out of bounds");
  return {index.units + start, end - start};
}

bool isSame(Text a, Text b) { return a.length == b.length && std::memcmp(a.bytes, b.bytes, a.length) == 0; }

// The slot of a text, or the free one for it.
std::uint32_t& slotOf(const TextIndex& index, Text text, std::uint32_t hash) {
  std::size_t place = hash & index.slotMask;
  for (std::size_t tried = 0; tried <= index.slotMask; tried++) {
    std::uint32_t& slot = index.slots[place];
    if (slot == 0) return slot;
    if (((slot ^ hash) & ~kIndexMask) == 0 && isSame(textOf(index, (slot & kIndexMask) - 1), text)) return slot;
    place = (place + 1) & index.slotMask;
  }
  throw std::invalid_argument("no slot is free");
}

std::uint32_t slotWith(std::uint32_t text, std::uint32_t hash) { return (hash & ~kIndexMask) | (text + 1); }

bool isSpace(std::uint8_t byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

// Writes an ASCII text, normalised and trimmed, and returns its length.
std::size_t normalise(Text text, std::uint32_t rules, std::uint8_t* to) {
  std::size_t length = 0;
  for (std::size_t i = 0; i < text.length; i++) {
    const std::uint8_t byte = text.bytes[i];
    if ((rules & kDigits) != 0 && (byte < '0' || byte > '9')) continue;
    const bool isLowered = (rules & kLowercase) != 0 && byte >= 'A' && byte <= 'Z';
    to[length++] = isLowered ? byte | 0x20 : byte;
  }
  if ((rules & kStripLeadingZeros) == 0) return length;
  std::size_t zeros = 0;
  while (zeros < length && to[zeros] == '0') zeros++;
  // Something must follow them, if only a zero.
  if (zeros > 0 && (zeros == length || isSpace(to[zeros]))) zeros--;
  std::memmove(to, to + zeros, length - zeros);
  return length - zeros;
}

}  // namespace

bool placeTexts(const TextIndex& index) {
  for (std::uint32_t i = 0; i < index.count; i++) {
    const Text text = textOf(index, i);
    const std::uint32_t hash = hashOf(text);
    std::uint32_t& slot = slotOf(index, text, hash);
    if (slot != 0) return false;
    slot = slotWith(i, hash);
  }
  return true;
}

std::size_t addCells(const CsvColumn& column, std::size_t first, std::uint32_t rules, TextIndex& index,
                     std::uint32_t* found) {
  for (std::size_t row = first; row < column.rowCount; row++) {
    Text text{};
    if (!column.cellAt(row, text)) return row;
    if (std::any_of(text.bytes, text.bytes + text.length, [](std::uint8_t byte) { return byte >= 0x80; })) return row;
    const std::uint32_t start = index.startOf(index.count);
    if (start > index.unitsMax || text.length > index.unitsMax - start || index.count == index.textsMax)
      throw std::invalid_argument("there is no room for a text");
    const std::size_t length = normalise(text, rules, index.units + start);
    if (length == 0) return row;
    const std::uint32_t hash = hashOf({index.units + start, length});
    std::uint32_t& slot = slotOf(index, {index.units + start, length}, hash);
    if (slot == 0) {
      index.ends[index.count] = start + static_cast<std::uint32_t>(length);
      slot = slotWith(index.count++, hash);
    }
    found[row] = (slot & kIndexMask) - 1;
  }
  return column.rowCount;
}

}  // namespace tandem
