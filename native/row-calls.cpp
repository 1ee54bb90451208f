// See row-calls.h; src/base/rows/row-loops.ts calls these functions. Those with rows return the index of the first row
// that does not exist, or -1.
#define NAPI_VERSION 8
#include "row-calls.h"

#include "row-loops.h"

namespace tandem {

namespace {

napi_value numberOf(const Arguments& arguments, long long number) {
  napi_value value = nullptr;
  require(arguments.env(), napi_create_int64(arguments.env(), number, &value));
  return value;
}

Rows checkedRows(const Arguments& arguments, std::size_t index, std::size_t rowCount) {
  const Span<std::uint32_t> rows = arguments.uint32s(index);
  return {rows.data, rows.length, rowCount};
}

// A bitmap over `count` rows.
std::uint8_t* checkedBitmap(const Arguments& arguments, std::size_t index, std::size_t count) {
  const Span<std::uint8_t> bitmap = arguments.bytes(index);
  check(bitmap.length == (count + 7) / 8, "a bitmap has the wrong size");
  return bitmap.data;
}

// rowSums(columns[], rows, bitmap or null, result, threads)
napi_value rowSumsCall(const Arguments& arguments) {
  const std::vector<Span<double>> given = arguments.float64Arrays(0);
  check(!given.empty() && given.size() <= 65536, "there are columns to sum");
  std::vector<const double*> columns;
  for (const Span<double>& column : given) {
    check(column.length == given[0].length, "columns have the same length");
    columns.push_back(column.data);
  }
  const Rows rows = checkedRows(arguments, 1, given[0].length);
  const std::uint8_t* const bitmap = arguments.isNull(2) ? nullptr : checkedBitmap(arguments, 2, rows.count);
  const Span<double> result = arguments.float64s(3);
  check(result.length >= columns.size(), "a result has the wrong size");
  return numberOf(arguments, sumRows(columns, rows, bitmap, result.data, arguments.threads(4)));
}

// rowSizes(column, rows, result, threads)
napi_value rowSizesCall(const Arguments& arguments) {
  const Span<double> column = arguments.float64s(0);
  const Rows rows = checkedRows(arguments, 1, column.length);
  const Span<double> result = arguments.float64s(2);
  check(result.length == 1, "a result has the wrong size");
  return numberOf(arguments, sumSizes(column.data, rows, result.data, arguments.threads(3)));
}

// countBits(bitmap, count, threads)
napi_value countBitsCall(const Arguments& arguments) {
  const std::size_t count = arguments.integer(1, 0, 8 * arguments.bytes(0).length);
  const std::uint8_t* const bitmap = checkedBitmap(arguments, 0, count);
  return numberOf(arguments, static_cast<long long>(countBits(bitmap, count, arguments.threads(2))));
}

// divideRows(rows, bitmap, inside, outside, threads)
napi_value divideRowsCall(const Arguments& arguments) {
  const Span<std::uint32_t> rows = arguments.uint32s(0);
  const std::uint8_t* const bitmap = checkedBitmap(arguments, 1, rows.length);
  const Span<std::uint32_t> inside = arguments.uint32s(2);
  const Span<std::uint32_t> outside = arguments.uint32s(3);
  const std::size_t threads = arguments.threads(4);
  check(inside.length == countBits(bitmap, rows.length, threads) && inside.length + outside.length == rows.length,
        "a result has the wrong size");
  divideRows(rows.data, rows.length, bitmap, inside.data, outside.data, threads);
  return numberOf(arguments, -1);
}

// pickBits(bitmap, positions, result, threads)
napi_value pickBitsCall(const Arguments& arguments) {
  const Span<std::uint8_t> bitmap = arguments.bytes(0);
  const Rows positions = checkedRows(arguments, 1, 8 * bitmap.length);
  std::uint8_t* const result = checkedBitmap(arguments, 2, positions.count);
  return numberOf(arguments, pickBits(bitmap.data, positions, result, arguments.threads(3)));
}

// lookUpBits(table, bins[], rows, result, threads): one array of bins
napi_value lookUpBitsCall(const Arguments& arguments) {
  const Span<std::uint8_t> table = arguments.bytes(0);
  const std::vector<Span<std::uint16_t>> bins = arguments.uint16Arrays(1);
  check(bins.size() == 1, "bins are of one feature");
  const Rows rows = checkedRows(arguments, 2, bins[0].length);
  std::uint8_t* const result = checkedBitmap(arguments, 3, rows.count);
  return numberOf(arguments, lookUpBits(table.data, table.length, bins[0].data, rows, result, arguments.threads(4)));
}

// placeRows(column, rows, placeOf or null, result, threads)
napi_value placeRowsCall(const Arguments& arguments) {
  const Span<double> column = arguments.float64s(0);
  const Rows rows = checkedRows(arguments, 1, column.length);
  const bool isPlaced = !arguments.isNull(2);
  const Span<std::int32_t> placeOf = isPlaced ? arguments.int32s(2) : Span<std::int32_t>{nullptr, 0};
  check(!isPlaced || placeOf.length == column.length, "every row has a place");
  const Span<std::int32_t> result = arguments.int32s(3);
  const std::size_t threads = arguments.threads(4);
  return numberOf(arguments, placeRows(column.data, rows, placeOf.data, result.length, result.data, threads));
}

// roundToGrid(values, grid, result, threads); the grid is shift, top, resolution and largest
napi_value roundToGridCall(const Arguments& arguments) {
  const Span<double> values = arguments.float64s(0);
  const Span<double> grid = arguments.float64s(1);
  check(grid.length == 4, "a grid has four numbers");
  const RowGrid given{grid.data[0], grid.data[1], grid.data[2], grid.data[3]};
  check(given.shift / given.resolution >= -kGridMax && given.top / given.resolution <= kGridMax, "a grid is too fine");
  const Span<double> result = arguments.float64s(2);
  check(result.length == values.length, "a result has the wrong size");
  return numberOf(arguments, roundToGrid(values.data, values.length, given, result.data, arguments.threads(3)));
}

// markRows(rows, number, result, threads)
napi_value markRowsCall(const Arguments& arguments) {
  const std::uint32_t number = static_cast<std::uint32_t>(arguments.integer(1, 0, 0xffffffff));
  const Span<std::uint32_t> result = arguments.uint32s(2);
  const Rows rows = checkedRows(arguments, 0, result.length);
  return numberOf(arguments, markRows(rows, number, result.data, arguments.threads(3)));
}

// addByLeaf(leaves, weights, numbers, first, stride, threads)
napi_value addByLeafCall(const Arguments& arguments) {
  const Span<std::uint32_t> leaves = arguments.uint32s(0);
  const Span<double> weights = arguments.float64s(1);
  const Span<double> numbers = arguments.float64s(2);
  const std::size_t stride = arguments.integer(4, 1, 65536);
  const std::size_t first = arguments.integer(3, 0, stride - 1);
  check(numbers.length == checkedProduct(leaves.length, stride), "every leaf has a number to add to");
  return numberOf(arguments, addByLeaf(leaves.data, leaves.length, weights.data, weights.length, numbers.data, first,
                                       stride, arguments.threads(5)));
}

}  // namespace

std::vector<Entry> rowEntries() {
  return {{"rowSums", guarded<rowSumsCall, 5>},     {"rowSizes", guarded<rowSizesCall, 4>},
          {"countBits", guarded<countBitsCall, 3>}, {"divideRows", guarded<divideRowsCall, 5>},
          {"pickBits", guarded<pickBitsCall, 4>},   {"lookUpBits", guarded<lookUpBitsCall, 5>},
          {"placeRows", guarded<placeRowsCall, 5>}, {"roundToGrid", guarded<roundToGridCall, 4>},
          {"markRows", guarded<markRowsCall, 4>},   {"addByLeaf", guarded<addByLeafCall, 6>}};
}

}  // namespace tandem
