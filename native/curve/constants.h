// Constants of edwards25519, -x^2 + y^2 = 1 + d x^2 y^2 over the field of p = 2^255 - 19, as limbs of 51 bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tandem {
namespace curve {

constexpr int kLimbs = 5;
constexpr int kLimbBits = 51;
constexpr std::uint64_t kLimbMask = (std::uint64_t{1} << kLimbBits) - 1;
// The lowest limb of p; the other four are kLimbMask.
constexpr std::uint64_t kPrimeLow = kLimbMask - 18;

constexpr std::uint64_t kOne[kLimbs] = {1, 0, 0, 0, 0};
constexpr std::uint64_t kD[kLimbs] = {0x34dca135978a3, 0x1a8283b156ebd, 0x5e7a26001c029, 0x739c663a03cbb,
                                      0x52036cee2b6ff};
constexpr std::uint64_t kTwiceD[kLimbs] = {0x69b9426b2f159, 0x35050762add7a, 0x3cf44c0038052, 0x6738cc7407977,
                                           0x2406d9dc56dff};
constexpr std::uint64_t kRootOfMinusOne[kLimbs] = {0x61b274a0ea0b0, 0x0d5a5fc8f189d, 0x7ef5e9cbd0c60, 0x78595a6804c9e,
                                                   0x2b8324804fc1d};
// (p + 1) / 2
constexpr std::uint64_t kHalf[kLimbs] = {0x7fffffffffff7, 0x7ffffffffffff, 0x7ffffffffffff, 0x7ffffffffffff,
                                         0x3ffffffffffff};
// The base point B: y = 4/5, x even.
constexpr std::uint64_t kBaseX[kLimbs] = {0x62d608f25d51a, 0x412a4b4f6592a, 0x75b7171a4b31d, 0x1ff60527118fe,
                                          0x216936d3cd6e5};
constexpr std::uint64_t kBaseY[kLimbs] = {0x6666666666658, 0x4cccccccccccc, 0x1999999999999, 0x3333333333333,
                                          0x6666666666666};

}  // namespace curve
}  // namespace tandem
