// See calls.h.
#define NAPI_VERSION 8
#include "calls.h"

#include <stdexcept>
#include <string>

#include "arguments.h"

namespace tandem {

namespace {

using curve::KernelName;

struct NamedKernel {
  KernelName kernel;
  const char* name;
};
// Best first.
constexpr NamedKernel kKernels[] = {
    {KernelName::kIfma, "ifma"}, {KernelName::kAvx2, "avx2"}, {KernelName::kScalar, "scalar"}};

// curveKernels(): the names of those that this processor can run, best first.
napi_value kernelsCall(const Arguments& arguments) {
  napi_value names = nullptr;
  require(arguments.env(), napi_create_array(arguments.env(), &names));
  std::uint32_t count = 0;
  for (const NamedKernel& entry : kKernels) {
    if (!curve::isAvailable(entry.kernel)) continue;
    napi_value name = nullptr;
    require(arguments.env(), napi_create_string_utf8(arguments.env(), entry.name, NAPI_AUTO_LENGTH, &name));
    require(arguments.env(), napi_set_element(arguments.env(), names, count++, name));
  }
  return names;
}

// createCurve(kernel)
napi_value createCall(const Arguments& arguments) {
  const std::string name = arguments.text(0);
  for (const NamedKernel& entry : kKernels) {
    if (name != entry.name || !curve::isAvailable(entry.kernel)) continue;
    return wrapCurve(arguments, std::make_unique<CurveContext>(CurveContext{&curve::kernelOf(entry.kernel)}));
  }
  throw std::invalid_argument("this processor has no such kernel");
}

// createCurveScalars(count), createCurvePoints(count), createCurveSums(count)
template <typename Handle>
napi_value createHandle(const Arguments& arguments) {
  return wrapCurve(arguments, std::make_unique<Handle>(arguments.integer(0, 0, kCurveCountMax)));
}
// createCurveKeys(count)
napi_value createKeysCall(const Arguments& arguments) {
  return wrapCurve(arguments, std::make_unique<CurveKeys>(arguments.integer(0, 0, 4096)));
}

// createCurveLogarithms(reach)
napi_value createLogarithmsCall(const Arguments& arguments) {
  auto table = std::make_shared<curve::Logarithms>(arguments.integer(0, 0, curve::kReachMax));
  return wrapCurve(arguments, std::make_unique<CurveLogarithms>(CurveLogarithms{std::move(table)}));
}

}  // namespace

std::vector<Entry> curveEntries() {
  std::vector<Entry> entries = {{"curveKernels", guarded<kernelsCall, 0>},
                                {"createCurve", guarded<createCall, 1>},
                                {"createCurveScalars", guarded<createHandle<CurveScalars>, 1>},
                                {"createCurvePoints", guarded<createHandle<CurvePoints>, 1>},
                                {"createCurveSums", guarded<createHandle<CurveSums>, 1>},
                                {"createCurveKeys", guarded<createKeysCall, 1>},
                                {"createCurveLogarithms", guarded<createLogarithmsCall, 1>}};
  for (const Entry& entry : curveActiveEntries()) entries.push_back(entry);
  for (const Entry& entry : curvePassiveEntries()) entries.push_back(entry);
  return entries;
}

}  // namespace tandem
