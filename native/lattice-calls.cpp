// Contexts of the lattice scheme for JavaScript. Every function is a deterministic function of its arguments: seeds
// come from TypeScript. Promises resolve to the index of what is refused first, or -1.
#define NAPI_VERSION 8
#include "lattice-calls.h"

#include <cstring>
#include <stdexcept>
#include <string>

#include "lattice-arguments.h"

namespace tandem {

namespace {

using lattice::Context;
using lattice::KernelName;

constexpr std::size_t kRowsMax = 0xffffffff;

struct NamedKernel {
  KernelName kernel;
  const char* name;
};
// Best first.
constexpr NamedKernel kKernels[] = {
    {KernelName::kAvx512, "avx512"}, {KernelName::kAvx2, "avx2"}, {KernelName::kScalar, "scalar"}};

// latticeKernels(): the names of those that this processor can run, best first.
napi_value latticeKernels(const Arguments& arguments) {
  napi_value names = nullptr;
  require(arguments.env(), napi_create_array(arguments.env(), &names));
  std::uint32_t count = 0;
  for (const NamedKernel& entry : kKernels) {
    if (!lattice::isAvailable(entry.kernel)) continue;
    napi_value name = nullptr;
    require(arguments.env(), napi_create_string_utf8(arguments.env(), entry.name, NAPI_AUTO_LENGTH, &name));
    require(arguments.env(), napi_set_element(arguments.env(), names, count++, name));
  }
  return names;
}

KernelName checkedKernel(const Arguments& arguments, std::size_t index) {
  const std::string name = arguments.text(index);
  for (const NamedKernel& entry : kKernels) {
    if (name == entry.name && lattice::isAvailable(entry.kernel)) return entry.kernel;
  }
  throw std::invalid_argument("this processor has no such kernel");
}

const lattice::Set& checkedSet(const Arguments& arguments, std::size_t index) {
  const std::string name = arguments.text(index);
  check(name == "A" || name == "B", "a parameter set is A or B");
  return name == "A" ? lattice::kSetA : lattice::kSetB;
}

// createLattice(kernel, set, rows, t, slotBits, crsKey)
napi_value createLattice(const Arguments& arguments) {
  const KernelName kernel = checkedKernel(arguments, 0);
  const lattice::Set& set = checkedSet(arguments, 1);
  lattice::Shape shape{};
  shape.rows = arguments.integer(2, 1, kRowsMax);
  shape.t = wideInteger(arguments, 3);
  shape.slotBits = arguments.integer(4, 0, 64);
  std::memcpy(shape.crsKey, sized(arguments, 5, sizeof shape.crsKey, "a CRS key has 16 bytes").data,
              sizeof shape.crsKey);
  const char* fault = lattice::faultOf(set, shape);
  check(fault == nullptr, fault);
  auto context = std::make_unique<Context>(set, lattice::kernelOf(kernel, set), shape);
  return wrapExternal(arguments.env(), std::move(context), kLatticeTag);
}

}  // namespace

std::vector<Entry> latticeEntries() {
  std::vector<Entry> entries = {{"latticeKernels", guarded<latticeKernels, 0>},
                                {"createLattice", guarded<createLattice, 6>}};
  for (const Entry& entry : latticePassiveEntries()) entries.push_back(entry);
  for (const Entry& entry : latticeActiveEntries()) entries.push_back(entry);
  return entries;
}

}  // namespace tandem
