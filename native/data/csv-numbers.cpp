// See csv-numbers.h.
#include "csv-numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "csv-rows.h"

namespace tandem {

namespace {

constexpr std::uint64_t kExactInteger = std::uint64_t{1} << 53;
// A number below 10^19 fits 64 bits.
constexpr long kDigitsMax = 19;
// Enough for every double; a longer exponent is left to JavaScript.
constexpr int kExponentDigitsMax = 4;
constexpr int kExactPower = 22;
constexpr double kPowers[kExactPower + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                             1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

bool isDigit(std::uint8_t byte) { return byte >= '0' && byte <= '9'; }

// Adds the digits at `at` to a number, which may overflow, and returns their end.
const std::uint8_t* addDigits(const std::uint8_t* at, const std::uint8_t* end, std::uint64_t& value) {
  for (; at < end && isDigit(*at); at++) value = 10 * value + (*at - '0');
  return at;
}

bool nearestDouble(const std::uint8_t* first, const std::uint8_t* end, double& value) {
#ifdef __cpp_lib_to_chars
  const char* const last = reinterpret_cast<const char*>(end);
  const std::from_chars_result result = std::from_chars(reinterpret_cast<const char*>(first), last, value);
  return result.ec == std::errc() && result.ptr == last;
#else
  (void)first, (void)end, (void)value;
  return false;
#endif
}

// The syntax of src/base/text/number-cell.ts: [+-] digits [. digits] [e [+-] digits], with a digit before the e.
bool readNumber(Text text, double& value) {
  const std::uint8_t* at = text.bytes;
  const std::uint8_t* const end = at + text.length;
  const bool isNegative = *at == '-';
  if (isNegative || *at == '+') at++;
  const std::uint8_t* const unsignedFirst = at;
  std::uint64_t whole = 0;
  at = addDigits(at, end, whole);
  long digits = static_cast<long>(at - unsignedFirst);
  long decimals = 0;
  if (at < end && *at == '.') {
    const std::uint8_t* const first = ++at;
    at = addDigits(at, end, whole);
    decimals = static_cast<long>(at - first);
    digits += decimals;
  }
  if (digits == 0) return false;
  long exponent = 0;
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    const bool isBelow = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+')) at++;
    if (at == end || end - at > kExponentDigitsMax) return false;
    while (at < end && isDigit(*at)) exponent = 10 * exponent + (*at++ - '0');
    if (isBelow) exponent = -exponent;
  }
  if (at < end) return false;
  const long power = exponent - decimals;
  // A product or quotient of two exact doubles is rounded once (Clinger 1990).
  if (digits <= kDigitsMax && whole <= kExactInteger && power >= -kExactPower && power <= kExactPower) {
    const double exact = static_cast<double>(whole);
    value = power < 0 ? exact / kPowers[-power] : exact * kPowers[power];
  } else if (!nearestDouble(unsignedFirst, end, value)) {
    return false;
  }
  if (isNegative) value = -value;
  return true;
}

bool isNotAvailable(Text text) {
  const auto is = [&](std::size_t i, char lower) { return (text.bytes[i] | 0x20) == lower; };
  return (text.length == 2 || text.length == 3) && is(0, 'n') && is(1, 'a') && (text.length == 2 || is(2, 'n'));
}

bool isAmong(Text text, const std::vector<Text>& missing) {
  return std::any_of(missing.begin(), missing.end(), [&](Text token) {
    return token.length == text.length && std::memcmp(token.bytes, text.bytes, text.length) == 0;
  });
}

}  // namespace

bool CsvColumn::cellAt(std::size_t row, Text& cell) const {
  const std::uint32_t* const place = cells + 2 * (row * columnCount + column);
  if ((place[1] & kDoubledQuotes) != 0) return false;
  if (place[0] > byteCount || place[1] > byteCount - place[0]) throw std::invalid_argument("a cell is out of bounds");
  cell = trimmed({bytes + place[0], place[1]});
  return true;
}

bool readNumbers(const CsvColumn& column, const std::vector<Text>& missing, float* values) {
  for (std::size_t row = 0; row < column.rowCount; row++) {
    Text text{};
    if (!column.cellAt(row, text)) return false;
    if (text.length == 0 || isNotAvailable(text) || isAmong(text, missing)) {
      values[row] = std::numeric_limits<float>::quiet_NaN();
      continue;
    }
    double value = 0;
    if (!readNumber(text, value)) return false;
    values[row] = static_cast<float>(value);
    if (!(std::fabs(values[row]) <= std::numeric_limits<float>::max())) return false;
  }
  return true;
}

}  // namespace tandem
