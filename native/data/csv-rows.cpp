// See csv-rows.h.
#include "csv-rows.h"

#include <algorithm>
#include <cstring>

#include "csv-text.h"

namespace tandem {

namespace {

enum class CellEnd { kDelimiter, kRow, kMore, kQuote };

class Rows {
 public:
  Rows(const std::uint8_t* bytes, RowsState& state, std::uint32_t* cells, std::uint32_t* lines)
      : bytes_(bytes),
        state_(state),
        end_(state.end),
        delimiter_(static_cast<std::uint8_t>(state.delimiter)),
        newline_(state.newline == 0 ? '\n' : '\r'),
        cells_(cells),
        lines_(lines) {}

  RowsEnd read(std::size_t rowsMax) {
    while (state_.first < end_) {
      if (state_.rowCount == rowsMax) return RowsEnd::kRoom;
      const RowsEnd end = readRow();
      if (end != RowsEnd::kRoom) return end;
    }
    return RowsEnd::kText;
  }

 private:
  // kRoom: the next row can be read.
  RowsEnd readRow() {
    std::uint32_t* const row = cells_ + 2 * static_cast<std::size_t>(state_.rowCount) * state_.columnCount;
    std::uint32_t count = 0;
    at_ = state_.first;
    hasQuotes_ = false;
    CellEnd end = CellEnd::kDelimiter;
    while (end == CellEnd::kDelimiter) {
      end = at_ < end_ && bytes_[at_] == '"' ? quotedCell() : plainCell();
      if (end == CellEnd::kMore) return RowsEnd::kText;
      if (end == CellEnd::kQuote) return RowsEnd::kQuote;
      // One is kept even where the number of columns is not known yet: it may be a blank line.
      if (count < std::max(state_.columnCount, 1u)) {
        row[2 * count] = start_;
        row[2 * count + 1] = length_;
      }
      count++;
    }
    return take(row, count);
  }

  RowsEnd take(const std::uint32_t* row, std::uint32_t count) {
    const std::uint32_t lines = 1 + linesIn(row, std::min(count, std::max(state_.columnCount, 1u)));
    if (count == 1 && trimmed({bytes_ + row[0], row[1] & ~kDoubledQuotes}).length == 0) {
      if (state_.blankLinesLeft == 0) return RowsEnd::kBlankLines;
      state_.blankLinesLeft--;
    } else {
      state_.detail = count;
      if (count != state_.columnCount) return RowsEnd::kCellCount;
      if (state_.rowsLeft == 0) return RowsEnd::kRowCount;
      for (std::uint32_t i = 0; i < count; i++) {
        state_.detail = i;
        if (row[2 * i + 1] > state_.cellCharsMax && isLong(row + 2 * i)) return RowsEnd::kLongCell;
      }
      lines_[state_.rowCount++] = state_.line;
      state_.rowsLeft--;
      state_.blankLinesLeft++;
    }
    state_.line += lines;
    state_.first = at_;
    return RowsEnd::kRoom;
  }

  CellEnd plainCell() {
    start_ = at_;
    for (;;) {
      while (at_ < end_ && bytes_[at_] != delimiter_ && bytes_[at_] != newline_) at_++;
      length_ = at_ - start_;
      if (at_ == end_) return state_.isLast != 0 ? CellEnd::kRow : CellEnd::kMore;
      if (bytes_[at_] == delimiter_) return at_++, CellEnd::kDelimiter;
      if (state_.newline != 1) return at_++, CellEnd::kRow;
      if (at_ + 1 == end_ && state_.isLast == 0) return CellEnd::kMore;
      if (at_ + 1 < end_ && bytes_[at_ + 1] == '\n') return at_ += 2, CellEnd::kRow;
      at_++;
    }
  }

  CellEnd quotedCell() {
    hasQuotes_ = true;
    start_ = at_ + 1;
    std::uint32_t doubled = 0;
    for (at_ = start_;; at_ += 2) {
      const void* const found = at_ < end_ ? std::memchr(bytes_ + at_, '"', end_ - at_) : nullptr;
      if (found == nullptr) return state_.isLast != 0 ? CellEnd::kQuote : CellEnd::kMore;
      at_ = static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(found) - bytes_);
      if (at_ + 1 == end_ || bytes_[at_ + 1] != '"') break;
      doubled = kDoubledQuotes;
    }
    length_ = (at_ - start_) | doubled;
    at_++;
    if (at_ == end_) return state_.isLast != 0 ? CellEnd::kRow : CellEnd::kMore;
    return afterQuote();
  }

  // White space may follow a closing quote, and nothing else but the end of the cell.
  CellEnd afterQuote() {
    while (at_ < end_) {
      if (bytes_[at_] == delimiter_) return at_++, CellEnd::kDelimiter;
      if (bytes_[at_] == newline_) {
        if (state_.newline != 1) return at_++, CellEnd::kRow;
        if (at_ + 1 < end_ && bytes_[at_ + 1] == '\n') return at_ += 2, CellEnd::kRow;
      }
      const std::size_t space = spaceAt(bytes_ + at_, bytes_ + end_);
      if (space == 0) return CellEnd::kQuote;
      at_ += static_cast<std::uint32_t>(space);
    }
    return state_.isLast != 0 ? CellEnd::kQuote : CellEnd::kMore;
  }

  // Line ends within the cells of a row.
  std::uint32_t linesIn(const std::uint32_t* row, std::uint32_t count) const {
    if (state_.newline != 1 && !hasQuotes_) return 0;
    const std::uint8_t lineEnd = state_.newline == 2 ? '\r' : '\n';
    std::uint32_t lines = 0;
    for (std::uint32_t i = 0; i < count; i++) {
      const std::uint8_t* const cell = bytes_ + row[2 * i];
      lines += static_cast<std::uint32_t>(std::count(cell, cell + (row[2 * i + 1] & ~kDoubledQuotes), lineEnd));
    }
    return lines;
  }

  // More bytes than the limit has characters: counts them.
  bool isLong(const std::uint32_t* cell) const {
    const Text text{bytes_ + cell[0], cell[1] & ~kDoubledQuotes};
    std::size_t chars = utf16Length(text);
    if ((cell[1] & kDoubledQuotes) != 0) chars -= std::count(text.bytes, text.bytes + text.length, '"') / 2;
    return chars > state_.cellCharsMax;
  }

  const std::uint8_t* const bytes_;
  RowsState& state_;
  const std::uint32_t end_;
  const std::uint8_t delimiter_;
  // The first byte of a line end.
  const std::uint8_t newline_;
  std::uint32_t* const cells_;
  std::uint32_t* const lines_;
  std::uint32_t at_ = 0;
  // Of the last cell.
  std::uint32_t start_ = 0;
  std::uint32_t length_ = 0;
  // Of the current row.
  bool hasQuotes_ = false;
};

}  // namespace

RowsEnd scanRows(const std::uint8_t* bytes, RowsState& state, std::uint32_t* cells, std::uint32_t* lines,
                 std::size_t rowsMax) {
  state.rowCount = 0;
  return Rows(bytes, state, cells, lines).read(rowsMax);
}

}  // namespace tandem
