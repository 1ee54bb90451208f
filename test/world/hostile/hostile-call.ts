/** A call as a hostile active party makes it: other contents, another number of messages, an early end, or none. */
import type { DescMethod, MessageShape, DescMessage } from "@bufbuild/protobuf";
import { ConnectError, type Transport } from "@connectrpc/connect";
import type { SeededRandom } from "../../../src/base/random.ts";
import { type HostileJob, outcomeOf } from "./hostile-job.ts";
import { pick } from "./hostile-values.ts";
import { mutateMessage } from "./mutate-message.ts";
import { watchForStall } from "./stall-watch.ts";

/** What an honest party said in one call. */
export interface Said {
  readonly method: DescMethod;
  readonly messages: readonly MessageShape<DescMessage>[];
}

export interface HostileCall extends Said {
  /** For people: what is wrong with it. */
  readonly what: string;
  readonly mutated: number;
  /** After the last message: the stream ends, is broken off at once, or after a while in which nothing comes. */
  readonly end: "whole" | "broken off" | "left open";
}

/** How long a stream is left open. */
const leftOpenMs = 400;

/** What a join is answered with lasts as long as the job, and a request is answered while it waits in the queue. */
const lastsLong: ReadonlySet<string> = new Set(["join", "request"]);

const takesMany = ({ methodKind }: DescMethod): boolean =>
  methodKind === "client_streaming" || methodKind === "bidi_streaming";

export function hostileCall({ method, messages }: Said, random: SeededRandom): HostileCall {
  const changed = [...messages];
  const what: string[] = [];
  let mutated = 0;
  const kind = random.below(20);
  const changes = kind < 15 ? 1 : kind < 17 ? 2 + random.below(3) : 0;
  for (let i = 0; i < changes && changed.length > 0; i++) {
    const place = random.below(changed.length);
    const { message, path } = mutateMessage(method.input, changed[place], random);
    changed[place] = message;
    mutated++;
    what.push(path);
  }
  if (takesMany(method) && (kind >= 17 || random.below(10) === 0)) what.push(reorder(changed, random));
  const end = !takesMany(method) || random.below(12) > 0 ? "whole" : pick(random, ["broken off", "left open"] as const);
  if (end !== "whole") what.push(end);
  const words = what.length === 0 ? "again" : what.join(", ");
  return { method, messages: changed, what: `${method.localName}: ${words}`, mutated, end };
}

/** Changes the order or number of a stream's messages in place. @returns what it did */
function reorder(messages: MessageShape<DescMessage>[], random: SeededRandom): string {
  const place = messages.length === 0 ? 0 : random.below(messages.length);
  const change = messages.length === 0 ? "none" : pick(random, ["none", "dropped", "doubled", "reversed", "many"]);
  if (change === "none") messages.splice(0);
  if (change === "dropped") messages.splice(place, 1);
  if (change === "doubled") messages.splice(place, 0, messages[place]);
  if (change === "reversed") messages.reverse();
  if (change === "many") messages.push(...Array.from({ length: 20 }, () => messages[place]));
  return `messages ${change}`;
}

/**
 * Makes the call and notes what came of it. Settles when it was refused or answered; a stream that is left open is not
 * waited for.
 * @param over aborted at the job's end
 * @returns the words of the refusal; null: none
 */
export async function makeHostileCall(
  transport: Transport,
  call: HostileCall,
  job: HostileJob,
  over: AbortSignal,
): Promise<string | null> {
  job.messages += call.mutated;
  job.calls++;
  job.done.push(call.what);
  let refusal: string | null = null;
  const started = performance.now();
  const stall = watchForStall(job.pids);
  const breakOff = new AbortController();
  // An open stream blocks the calls that wait for its end, honest ones too, so it is closed after a while.
  if (call.end === "left open") setTimeout(() => breakOff.abort(), leftOpenMs).unref();
  const signal = AbortSignal.any([stall.signal, breakOff.signal, over]);
  const answers = answersTo(transport, call, signal, () => breakOff.abort());
  const ended = (async () => {
    try {
      let next = await answers.next();
      while (next.done !== true && !lastsLong.has(call.method.localName)) next = await answers.next();
      job.ended(call.what, "answered");
    } catch (error) {
      if (error instanceof ConnectError) job.refusals.add((refusal = error.rawMessage));
      if (stall.signal.aborted) job.ended(call.what, "hang");
      else job.ended(call.what, over.aborted || breakOff.signal.aborted ? "broken off" : outcomeOf(error));
    } finally {
      stall.end();
    }
  })();
  if (call.end === "left open") return null;
  await ended;
  const ms = Math.round(performance.now() - started);
  if (ms > job.slowest.ms) job.slowest = { what: call.what, ms };
  return refusal;
}

async function* answersTo(
  transport: Transport,
  { method, messages, end }: HostileCall,
  signal: AbortSignal,
  breakOff: () => void,
): AsyncGenerator<unknown> {
  async function* input(): AsyncGenerator<MessageShape<DescMessage>> {
    yield* messages;
    if (end === "broken off") breakOff();
    if (end !== "whole") await new Promise((_, reject) => signal.addEventListener("abort", reject, { once: true }));
  }
  if (method.methodKind === "unary") {
    yield (await transport.unary(method as never, signal, undefined, undefined, messages[0] as never)).message;
    return;
  }
  const response = await transport.stream(method as never, signal, undefined, undefined, input() as never);
  yield* response.message;
}
