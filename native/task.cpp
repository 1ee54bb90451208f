// See task.h.
#include "task.h"

#include <exception>
#include <memory>
#include <stdexcept>
#include <string>

#include "arguments.h"

namespace tandem {

namespace {

struct Task {
  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
  napi_ref keepAlive = nullptr;
  std::function<long long()> run;
  long long result = 0;
  bool failed = false;
  std::string error;
};

void execute(napi_env, void* data) {
  Task* task = static_cast<Task*>(data);
  try {
    task->result = task->run();
  } catch (const std::exception& exception) {
    task->failed = true;
    task->error = exception.what();
  } catch (...) {
    task->failed = true;
    task->error = "unknown failure";
  }
}

void complete(napi_env env, napi_status status, void* data) {
  const std::unique_ptr<Task> task(static_cast<Task*>(data));
  task->run = nullptr;  // frees copies that the work owned
  napi_delete_reference(env, task->keepAlive);
  napi_delete_async_work(env, task->work);
  napi_value value = nullptr;
  if (status == napi_ok && !task->failed) {
    napi_create_int64(env, task->result, &value);
    napi_resolve_deferred(env, task->deferred, value);
    return;
  }
  const std::string& text = task->failed ? task->error : "cancelled";
  napi_value message = nullptr;
  napi_create_string_utf8(env, text.c_str(), text.size(), &message);
  napi_create_error(env, nullptr, message, &value);
  napi_reject_deferred(env, task->deferred, value);
}

}  // namespace

napi_value startTask(napi_env env, const std::vector<napi_value>& keepAlive, std::function<long long()> work) {
  auto task = std::make_unique<Task>();
  task->run = std::move(work);
  napi_value held = nullptr;
  require(env, napi_create_array_with_length(env, keepAlive.size(), &held));
  for (std::size_t i = 0; i < keepAlive.size(); i++) {
    require(env, napi_set_element(env, held, static_cast<std::uint32_t>(i), keepAlive[i]));
  }
  napi_value name = nullptr;
  napi_value promise = nullptr;
  require(env, napi_create_string_utf8(env, "tandem", NAPI_AUTO_LENGTH, &name));
  require(env, napi_create_reference(env, held, 1, &task->keepAlive));
  require(env, napi_create_promise(env, &task->deferred, &promise));
  require(env, napi_create_async_work(env, nullptr, name, execute, complete, task.get(), &task->work));
  require(env, napi_queue_async_work(env, task->work));
  task.release();  // complete() owns it now
  return promise;
}

}  // namespace tandem
