/**
 * Both parties in one process: for simulations, replays and tests. Messages are serialised and every message waits for
 * its reader, as over a network. Errors lose what a network would not carry.
 */
import { create, type DescMessage, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createContextValues } from "@connectrpc/connect";
import type { AnyCall, Messages } from "../wire/every-call.ts";
import { PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { CallOptions, PassivePeer } from "../wire/peer.ts";
import { messageBytesMax } from "../wire/version.ts";
import { CallContext } from "./calls/call-context.ts";
import { failureBytes, failureFrom } from "./calls/call-failure.ts";
import { typedClient } from "./client.ts";
import type { PassiveService } from "./passive-service.ts";

/** Connect's own transport to a router in memory would take a fifth of the CPU time of a small job. */
export function connectInMemory(name: string, { answer }: Pick<PassiveService, "answer">): PassivePeer {
  return { name, ...typedClient(PassiveParty, name, callsOf(answer), { opening: "join" }) };
}

/** Each call yields its answers until it ends, fails, or its signal is aborted. */
function callsOf(answer: PassiveService["answer"]): AnyCall<CallOptions> {
  return async function* (method, requests, { signal }) {
    const context = new CallContext(method, `/${method.parent.typeName}/${method.name}`, createContextValues());
    let cancel = (): void => {};
    const cancelling = new Promise<never>((_, reject) => (cancel = () => reject(cancelled())));
    cancelling.catch(() => {});
    signal?.addEventListener("abort", cancel, { once: true });
    if (signal?.aborted === true) cancel();
    const answers = answer(method, transferred(method.input, requests), context)[Symbol.asyncIterator]();
    let isOver = false;
    try {
      for (;;) {
        const next = await (signal === undefined ? answers.next() : Promise.race([cancelling, answers.next()]));
        isOver = next.done === true;
        if (next.done === true) return;
        yield transfer(method.output, next.value);
      }
    } catch (error) {
      throw failureFrom(failureBytes(error));
    } finally {
      signal?.removeEventListener("abort", cancel);
      if (!isOver) context.abort(cancelled());
      // Not awaited: a cancelled handler may be waiting for something that does not come.
      if (!isOver) void Promise.resolve(answers.return?.()).catch(() => {});
    }
  };
}

function cancelled(): ConnectError {
  return new ConnectError("the call was cancelled", Code.Canceled);
}

async function* transferred(schema: DescMessage, messages: Messages): AsyncGenerator {
  for await (const message of messages) yield transfer(schema, message);
}

/** A message as the other side reads it. @throws ConnectError if it is too long */
function transfer(schema: DescMessage, message: unknown): unknown {
  const bytes = toBinary(schema, create(schema, message as MessageInitShape<DescMessage>));
  if (bytes.length > messageBytesMax)
    throw new ConnectError(`message size ${bytes.length} is larger than ${messageBytesMax}`, Code.ResourceExhausted);
  return fromBinary(schema, bytes);
}
