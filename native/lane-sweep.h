// One sweep over all columns of a pair product in every lane, with both Montgomery reductions interleaved:
//     r = (first + m N) / R        and        s = (second - m + m' N) / R,
// where `first` and `second` are each a sum of products and addends. See square-ring.h for why, lane-columns.h for the
// inner loops. Included once per kernel, like that.
//
// -m must not make a column negative: to every digit -m[j] the sweep adds 2^kDigitBits - 1, together R - 1, and
// `balance`, which makes a multiple of N of it. (2^kDigitBits - 1) - m[j] is m[j] with all its bits flipped.
//
// The low columns give one digit of m each and are zero afterwards; the high columns are the result. Results may
// overwrite operands: a block's result digits lie below all operand digits that later columns read.
//
// Constant-time: as lane-columns.h.
namespace tandem {
namespace TANDEM_LANES {

struct Sweep {
  std::ptrdiff_t digits;
  const Vector* modulus;
  const Vector* balance;
  Vector negatedInverse;

  // first = x y, or x x where y is null; plus addend (addendDigits digits).
  const Vector* firstX = nullptr;
  const Vector* firstY = nullptr;
  const Vector* firstAddend = nullptr;
  std::ptrdiff_t firstAddendDigits = 0;
  Vector* firstResult = nullptr;
  Vector* quotient = nullptr;  // m

  // second = x y + x' y', or 2 x y; plus addend (digits digits).
  bool hasSecond = false;
  bool isDoubled = false;
  const Vector* secondX[2] = {nullptr, nullptr};
  const Vector* secondY[2] = {nullptr, nullptr};
  const Vector* secondAddend = nullptr;
  Vector* secondResult = nullptr;
};

// What goes from block to block: carries, and the second reduction's quotient.
struct SweepState {
  Vector firstCarry;
  Vector secondCarry;
  Vector secondQuotient[kDigitsMax + 1];
};

template <int columns, bool fold>
TANDEM_LANE_INLINE void foldIfWanted(Sums<columns>& sums, Vector& spill) {
  if constexpr (fold) spill = add(spill, sums.fold());
}

template <int columns>
TANDEM_LANE_INLINE void addFirstAddend(const Sweep& sweep, Sums<columns>& sums, std::ptrdiff_t at) {
  if (at + columns <= sweep.firstAddendDigits) sums.plus(sweep.firstAddend + at);
}

template <int columns, bool fold>
TANDEM_LANE __attribute__((noinline)) void sweepFirstLow(const Sweep& sweep, SweepState& state, std::ptrdiff_t at) {
  Sums<columns> sums;
  Vector spill = zero();
  sums.clear();
  if (sweep.firstX != nullptr) {
    if (sweep.firstY == nullptr) {
      sums.addLowSquare(sweep.firstX, at);
    } else {
      sums.addLow(sweep.firstX, sweep.firstY, at);
    }
    foldIfWanted<columns, fold>(sums, spill);
  }
  addFirstAddend(sweep, sums, at);
  sums.addRows(sweep.quotient, sweep.modulus + at, at);
  foldIfWanted<columns, fold>(sums, spill);
  sums.reduce(sweep.quotient + at, sweep.modulus, sweep.negatedInverse, state.firstCarry);
  state.firstCarry = add(state.firstCarry, spill);
}

template <int columns, bool fold>
TANDEM_LANE __attribute__((noinline)) void sweepSecondLow(const Sweep& sweep, SweepState& state, std::ptrdiff_t at) {
  Sums<columns> sums;
  Vector spill = zero();
  sums.clear();
  for (int term = 0; term < 2; term++) {
    if (sweep.secondX[term] == nullptr) continue;
    sums.addLow(sweep.secondX[term], sweep.secondY[term], at);
    foldIfWanted<columns, fold>(sums, spill);
  }
  if (sweep.isDoubled) {
    sums.twice();
    spill = add(spill, spill);
  }
  const Vector mask = digitMask();
  unroll<columns>([&](auto c)
                      TANDEM_LANE_LAMBDA { sums.at[c] = add(sums.at[c], bitXor(sweep.quotient[at + c], mask)); });
  sums.plus(sweep.balance + at);
  if (sweep.secondAddend != nullptr) sums.plus(sweep.secondAddend + at);
  sums.addRows(state.secondQuotient, sweep.modulus + at, at);
  foldIfWanted<columns, fold>(sums, spill);
  sums.reduce(state.secondQuotient + at, sweep.modulus, sweep.negatedInverse, state.secondCarry);
  state.secondCarry = add(state.secondCarry, spill);
}

// The first result is held back in `result` until the second has read its operands.
template <int columns, bool fold>
TANDEM_LANE __attribute__((noinline)) void sweepFirstHigh(const Sweep& sweep, SweepState& state, std::ptrdiff_t at,
                                                          Vector* result) {
  Sums<columns> sums;
  Vector spill = zero();
  sums.clear();
  if (sweep.firstX != nullptr) {
    if (sweep.firstY == nullptr) {
      sums.addHighSquare(sweep.firstX, at, sweep.digits);
    } else {
      sums.addHigh(sweep.firstX, sweep.firstY, at, sweep.digits);
    }
    foldIfWanted<columns, fold>(sums, spill);
  }
  addFirstAddend(sweep, sums, at);
  sums.addHigh(sweep.quotient, sweep.modulus, at, sweep.digits);
  foldIfWanted<columns, fold>(sums, spill);
  sums.write(result, state.firstCarry);
  state.firstCarry = add(state.firstCarry, spill);
}

template <int columns, bool fold>
TANDEM_LANE __attribute__((noinline)) void sweepSecondHigh(const Sweep& sweep, SweepState& state, std::ptrdiff_t at) {
  Sums<columns> sums;
  Vector spill = zero();
  sums.clear();
  for (int term = 0; term < 2; term++) {
    if (sweep.secondX[term] == nullptr) continue;
    sums.addHigh(sweep.secondX[term], sweep.secondY[term], at, sweep.digits);
    foldIfWanted<columns, fold>(sums, spill);
  }
  if (sweep.isDoubled) {
    sums.twice();
    spill = add(spill, spill);
  }
  sums.addHigh(state.secondQuotient, sweep.modulus, at, sweep.digits);
  foldIfWanted<columns, fold>(sums, spill);
  sums.write(sweep.secondResult + (at - sweep.digits), state.secondCarry);
  state.secondCarry = add(state.secondCarry, spill);
}

template <int columns, bool fold>
TANDEM_LANE void sweepLow(const Sweep& sweep, SweepState& state, std::ptrdiff_t at) {
  sweepFirstLow<columns, fold>(sweep, state, at);
  if (sweep.hasSecond) sweepSecondLow<columns, fold>(sweep, state, at);
}

template <int columns, bool fold>
TANDEM_LANE void sweepHigh(const Sweep& sweep, SweepState& state, std::ptrdiff_t at) {
  Vector* result = sweep.firstResult + (at - sweep.digits);
  if (!sweep.hasSecond) return sweepFirstHigh<columns, fold>(sweep, state, at, result);
  Vector held[columns];
  sweepFirstHigh<columns, fold>(sweep, state, at, held);
  sweepSecondHigh<columns, fold>(sweep, state, at);
  unroll<columns>([&](auto c) TANDEM_LANE_LAMBDA { result[c] = held[c]; });
}

template <int columns, bool fold>
TANDEM_LANE void sweepRest(const Sweep& sweep, SweepState& state, std::ptrdiff_t at) {
  if (at < sweep.digits) {
    sweepLow<columns, fold>(sweep, state, at);
  } else {
    sweepHigh<columns, fold>(sweep, state, at);
  }
}

// The block that is left when the digits are no multiple of kBlock.
template <bool fold>
TANDEM_LANE void sweepPartBlock(const Sweep& sweep, SweepState& state, std::ptrdiff_t at, std::ptrdiff_t columns) {
  switch (columns) {
    case 1:
      return sweepRest<1, fold>(sweep, state, at);
    case 2:
      return sweepRest<2, fold>(sweep, state, at);
    case 3:
      return sweepRest<3, fold>(sweep, state, at);
    case 4:
      return sweepRest<4, fold>(sweep, state, at);
    case 5:
      return sweepRest<5, fold>(sweep, state, at);
    case 6:
      return sweepRest<6, fold>(sweep, state, at);
    case 7:
      return sweepRest<7, fold>(sweep, state, at);
    case 8:
      return sweepRest<8, fold>(sweep, state, at);
    case 9:
      return sweepRest<9, fold>(sweep, state, at);
    default:
      return;
  }
}

template <bool fold>
TANDEM_LANE void runSweep(const Sweep& sweep) {
  SweepState state;
  state.firstCarry = state.secondCarry = zero();
  const std::ptrdiff_t digits = sweep.digits;
  const std::ptrdiff_t rest = digits % kBlock;
  std::ptrdiff_t at = 0;
  for (; at + kBlock <= digits; at += kBlock) sweepLow<kBlock, fold>(sweep, state, at);
  sweepPartBlock<fold>(sweep, state, at, rest);
  for (at = digits; at + kBlock <= 2 * digits; at += kBlock) sweepHigh<kBlock, fold>(sweep, state, at);
  sweepPartBlock<fold>(sweep, state, at, rest);
}

}  // namespace TANDEM_LANES
}  // namespace tandem
