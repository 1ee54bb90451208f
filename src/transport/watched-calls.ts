/** Calls that do not wait for ever: every one of them goes through a CallWatch. */
import { type PassiveHello, PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import { type AnyCall, type Messages, noted } from "../wire/every-call.ts";
import type { CallWatch } from "./call-watch.ts";

export function watchedCalls<More>(call: AnyCall<More>, watch: CallWatch): AnyCall<More> {
  return (method, requests, more) => {
    const answers = call(
      method,
      noted(requests, () => watch.taken()),
      more,
    );
    return method === PassiveParty.method.join
      ? joined(answers as Messages<PassiveHello>, watch)
      : watchedAnswers(answers, watch);
  };
}

/** Only its first answer is waited for: the others are signs of life. */
async function* joined(hellos: Messages<PassiveHello>, watch: CallWatch): AsyncGenerator<PassiveHello> {
  const stream = hellos[Symbol.asyncIterator]();
  const first = watch.call()(stream.next());
  for (let next = await first; next.done !== true; next = await stream.next()) {
    if (next.value.working) watch.beat();
    yield next.value;
  }
}

async function* watchedAnswers<T>(answers: Messages<T>, watch: CallWatch): AsyncGenerator<T> {
  const stream = answers[Symbol.asyncIterator]();
  const wait = watch.call();
  let isOver = false;
  try {
    for (;;) {
      const next = await wait(stream.next());
      if (next.done === true) {
        isOver = true;
        return;
      }
      yield next.value;
    }
  } finally {
    // Not waited for: it would wait for the answer that does not come.
    if (!isOver) void Promise.resolve(stream.return?.()).catch(() => {});
  }
}
