/** Peers whose calls do not wait for ever: every call of them goes through a CallWatch. */
import type { AlignmentPeer } from "../align/alignment-peer.ts";
import { type PassiveHello, PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { CallOptions, PassivePeer } from "../wire/peer.ts";
import type { CallWatch } from "./call-watch.ts";
import { everyCall, noted } from "./every-call.ts";

export function watchedPeer(peer: PassivePeer, watch: CallWatch): PassivePeer {
  const calls = everyCall<Omit<PassivePeer, "name">, CallOptions>(PassiveParty, () => peer, {
    one: (call) => watch.call()(call() as Promise<unknown>),
    many: (call, method) =>
      method === PassiveParty.method.join
        ? joined(call() as AsyncIterable<PassiveHello>, watch)
        : watchedStream(call(), watch),
    sent: () => watch.taken(),
  });
  return { ...calls, name: peer.name };
}

export function watchedAlignment(peer: AlignmentPeer, watch: CallWatch): AlignmentPeer {
  const taken = (): void => watch.taken();
  return {
    name: peer.name,
    boundTo: peer.boundTo,
    begin: (offer, options) => watch.call()(peer.begin(offer, options)),
    remask: (points, options) => watchedStream(peer.remask(noted(points, taken), options), watch),
    maskedIds: (options) => watchedStream(peer.maskedIds(options), watch),
    accept: (commonCount, positions, options) =>
      watch.call()(peer.accept(commonCount, noted(positions, taken), options)),
  };
}

/** Only its first answer is waited for: the others are signs of life. */
async function* joined(hellos: AsyncIterable<PassiveHello>, watch: CallWatch): AsyncGenerator<PassiveHello> {
  const stream = hellos[Symbol.asyncIterator]();
  const first = watch.call()(stream.next());
  for (let next = await first; next.done !== true; next = await stream.next()) {
    if (next.value.working) watch.beat();
    yield next.value;
  }
}

async function* watchedStream<T>(answers: AsyncIterable<T>, watch: CallWatch): AsyncGenerator<T> {
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
