// See calls.h.
#define NAPI_VERSION 8
#include "calls.h"

#include <limits>

#include "column-bins.h"
#include "csv-numbers.h"
#include "csv-rows.h"
#include "text-index.h"

namespace tandem {

namespace {

constexpr std::size_t kUpperCount = 65536;
constexpr std::size_t kLowerCount = 256;
constexpr std::size_t kRowsMax = std::size_t{1} << 31;

napi_value number(const Arguments& arguments, double value) {
  napi_value result = nullptr;
  require(arguments.env(), napi_create_double(arguments.env(), value, &result));
  return result;
}

// csvRows(bytes, state, cells, lines)
napi_value csvRowsCall(const Arguments& arguments) {
  const Span<std::uint8_t> bytes = arguments.bytes(0);
  const Span<std::uint32_t> words = arguments.uint32s(1);
  const Span<std::uint32_t> cells = arguments.uint32s(2);
  const Span<std::uint32_t> lines = arguments.uint32s(3);
  check(words.length * sizeof(std::uint32_t) == sizeof(RowsState), "the state has the wrong size");
  RowsState& state = *reinterpret_cast<RowsState*>(words.data);
  check(state.first <= state.end && state.end <= bytes.length && bytes.length < kDoubledQuotes,
        "text is out of bounds");
  check(state.newline <= 2 && state.delimiter < 256, "a separator is out of range");
  check(cells.length >= checkedProduct(2 * lines.length, state.columnCount) && cells.length >= 2,
        "every cell has a place");
  return number(arguments, static_cast<double>(scanRows(bytes.data, state, cells.data, lines.data, lines.length)));
}

// bytes, cells, shape: the numbers of rows and columns, and the column that is meant
CsvColumn checkedColumn(const Arguments& arguments) {
  const Span<std::uint8_t> bytes = arguments.bytes(0);
  const Span<std::uint32_t> cells = arguments.uint32s(1);
  const Span<std::uint32_t> shape = arguments.uint32s(2);
  check(shape.length == 3 && shape.data[2] < shape.data[1], "a shape has rows, columns and a column");
  check(cells.length / 2 >= checkedProduct(shape.data[0], shape.data[1]), "every cell has a place");
  return {bytes.data, bytes.length, cells.data, shape.data[0], shape.data[1], shape.data[2]};
}

// csvNumbers(bytes, cells, shape, missing, missingEnds, values)
napi_value csvNumbersCall(const Arguments& arguments) {
  const CsvColumn column = checkedColumn(arguments);
  const Span<std::uint8_t> tokens = arguments.bytes(3);
  const Span<std::uint32_t> ends = arguments.uint32s(4);
  std::vector<Text> missing;
  std::uint32_t start = 0;
  for (std::size_t i = 0; i < ends.length; start = ends.data[i++]) {
    check(start <= ends.data[i] && ends.data[i] <= tokens.length, "a token is out of bounds");
    missing.push_back({tokens.data + start, ends.data[i] - start});
  }
  const Span<float> values = arguments.float32s(5);
  check(values.length == column.rowCount, "every row has a value");
  return number(arguments, readNumbers(column, missing, values.data) ? 1 : 0);
}

// Units, ends and slots from argument `at` on, and the number of texts.
TextIndex checkedIndex(const Arguments& arguments, std::size_t at) {
  const Span<std::uint8_t> units = arguments.bytes(at);
  const Span<std::uint32_t> ends = arguments.uint32s(at + 1);
  const Span<std::uint32_t> slots = arguments.uint32s(at + 2);
  check(units.length <= std::numeric_limits<std::uint32_t>::max(), "the texts fit into four gigabytes");
  check(slots.length > 0 && (slots.length & (slots.length - 1)) == 0, "the number of slots is a power of two");
  check(ends.length < kIndexMask, "there are fewer texts than 2^27");
  const std::size_t count = arguments.integer(at + 3, 0, ends.length);
  return {units.data,
          units.length,
          ends.data,
          ends.length,
          slots.data,
          slots.length - 1,
          static_cast<std::uint32_t>(count)};
}

// placeTexts(units, ends, slots, count)
napi_value placeTextsCall(const Arguments& arguments) {
  return number(arguments, placeTexts(checkedIndex(arguments, 0)) ? 1 : 0);
}

// addCells(bytes, cells, shape, first, rules, units, ends, slots, count, found)
napi_value addCellsCall(const Arguments& arguments) {
  const CsvColumn column = checkedColumn(arguments);
  const std::size_t first = arguments.integer(3, 0, kRowsMax);
  const auto rules = static_cast<std::uint32_t>(arguments.integer(4, 0, 7));
  TextIndex index = checkedIndex(arguments, 5);
  const Span<std::uint32_t> found = arguments.uint32s(9);
  check(found.length == column.rowCount, "every row has an index");
  return number(arguments, static_cast<double>(addCells(column, first, rules, index, found.data)));
}

// countUpper(values, counts, range)
napi_value countUpperCall(const Arguments& arguments) {
  const Span<float> values = arguments.float32s(0);
  const Span<std::uint32_t> counts = arguments.uint32s(1);
  const Span<double> words = arguments.float64s(2);
  check(counts.length == kUpperCount, "every prefix has a count");
  check(words.length * sizeof(double) == sizeof(ColumnRange), "a range has the wrong size");
  countUpper(values.data, values.length, counts.data, *reinterpret_cast<ColumnRange*>(words.data));
  return number(arguments, 0);
}

// countLower(values, places, nextPlaces, counts)
napi_value countLowerCall(const Arguments& arguments) {
  const Span<float> values = arguments.float32s(0);
  const Span<std::uint16_t> places = arguments.uint16s(1);
  const Span<std::uint16_t> next = arguments.uint16s(2);
  const Span<std::uint32_t> counts = arguments.uint32s(3);
  check(places.length == kUpperCount, "every prefix has a place");
  check(next.length % kLowerCount == 0 && counts.length % kLowerCount == 0, "counts have the wrong size");
  const bool isCounted = countLower(values.data, values.length, places.data, next.length == 0 ? nullptr : next.data,
                                    next.length / kLowerCount, counts.data, counts.length / kLowerCount);
  check(isCounted, "every place has counts");
  return number(arguments, 0);
}

// binValues(values, thresholds, bins)
napi_value binValuesCall(const Arguments& arguments) {
  const Span<float> values = arguments.float32s(0);
  const Span<float> thresholds = arguments.float32s(1);
  const Span<std::uint16_t> bins = arguments.uint16s(2);
  check(bins.length == values.length, "every value has a bin");
  check(thresholds.length > 0 && thresholds.length < kUpperCount - 1, "a bin fits 16 bits");
  binValues(values.data, values.length, thresholds.data, thresholds.length, bins.data);
  return number(arguments, 0);
}

}  // namespace

std::vector<Entry> dataEntries() {
  return {{"csvRows", guarded<csvRowsCall, 4>},       {"csvNumbers", guarded<csvNumbersCall, 6>},
          {"placeTexts", guarded<placeTextsCall, 4>}, {"addCells", guarded<addCellsCall, 10>},
          {"countUpper", guarded<countUpperCall, 3>}, {"countLower", guarded<countLowerCall, 4>},
          {"binValues", guarded<binValuesCall, 3>}};
}

}  // namespace tandem
