// One asynchronous call: a promise for JavaScript, work on a thread of libuv's pool (which fans out, see threads.h),
// and everything that the work points to kept alive until it ends.
//
// Trust: our TypeScript does not transfer or resize a buffer while a call that was given it is under way.
#pragma once

#include <node_api.h>

#include <functional>
#include <vector>

namespace tandem {

// `work` returns the number that the promise resolves to; an exception rejects it. `keepAlive` are the JavaScript
// values that the work's pointers belong to.
napi_value startTask(napi_env env, const std::vector<napi_value>& keepAlive, std::function<long long()> work);

}  // namespace tandem
