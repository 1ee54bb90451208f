// How functions of the addon are called from JavaScript: what they throw, and the contexts that they are given.
#pragma once

#include <node_api.h>

#include <exception>
#include <memory>

#include "arguments.h"

namespace tandem {

// A function's name in JavaScript.
struct Entry {
  const char* name;
  napi_callback callback;
};

inline void exportEntry(napi_env env, napi_value exports, const Entry& entry) {
  napi_value function = nullptr;
  napi_create_function(env, entry.name, NAPI_AUTO_LENGTH, entry.callback, nullptr, &function);
  napi_set_named_property(env, exports, entry.name, function);
}

template <typename T>
napi_value wrapExternal(napi_env env, std::unique_ptr<T> context, const napi_type_tag& tag) {
  napi_value value = nullptr;
  const auto finalize = [](napi_env, void* data, void*) { delete static_cast<T*>(data); };
  require(env, napi_create_external(env, context.get(), finalize, nullptr, &value));
  context.release();
  require(env, napi_type_tag_object(env, value, &tag));
  return value;
}

template <napi_value (*function)(const Arguments&), std::size_t argumentCount>
napi_value guarded(napi_env env, napi_callback_info info) {
  try {
    return function(Arguments(env, info, argumentCount));
  } catch (const std::exception& exception) {
    bool pending = false;
    napi_is_exception_pending(env, &pending);
    if (!pending) napi_throw_type_error(env, nullptr, exception.what());
    return nullptr;
  }
}

}  // namespace tandem
