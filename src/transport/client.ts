/** A client of any service: every error becomes a TandemError, and no call waits forever. */
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { type Client, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import { type AnyCall, callsTo, everyCall, noted } from "../wire/every-call.ts";
import { type PassiveHello, PassiveParty } from "../wire/generated/tandem/v1/tandem_pb.ts";
import type { CallOptions } from "../wire/peer.ts";
import { peerText } from "../wire/peer-text.ts";
import type { CallWatch } from "./call-watch.ts";
import { connectionTrouble, troubleWords } from "./connection-trouble.ts";
import { fromWireError, isPartyFault } from "./wire-error.ts";

export interface ClientOptions<Service extends DescService> {
  /** Calls that may be the first to a party. If one fails before it is answered, the party may not be running. */
  readonly opening: keyof Service["method"] | readonly (keyof Service["method"])[];
  /** Whether every error names the party. */
  readonly isNaming?: boolean;
  /** Host and port of the party, for error messages. */
  readonly at?: string | undefined;
  /** Why the party has closed the connection, where it has said so. */
  readonly refusal?: (() => Error | null) | undefined;
  /** Left out: a call waits until its connection is lost. */
  readonly watch?: CallWatch | undefined;
}

export function clientOver<Service extends DescService>(
  service: Service,
  party: string,
  transport: Transport,
  options: ClientOptions<Service>,
): Client<Service> {
  return typedClient(service, party, callsTo(createClient(service, transport)), options);
}

/** @param call reaches the party; its errors are those of the wire */
export function typedClient<Service extends DescService>(
  service: Service,
  party: string,
  call: AnyCall<CallOptions>,
  { opening, isNaming = false, at, refusal, watch }: ClientOptions<Service>,
): Client<Service> {
  const openings: readonly PropertyKey[] = [opening].flat();
  const translated = (cause: unknown, isReached: boolean): TandemError => {
    const error = fromWireError(cause, party);
    const placed = isReached ? error : unreached(error, party, refusal?.() ?? cause, at);
    return isNaming ? named(party, placed) : placed;
  };
  return everyCall<Client<Service>, CallOptions>(service, async function* (method, requests, options) {
    const taken = watch === undefined ? requests : noted(requests, () => watch.taken());
    const answers = call(method, taken, options)[Symbol.asyncIterator]();
    const watched = watch?.call();
    let isReached = !openings.includes(method.localName);
    let isOver = false;
    try {
      for (;;) {
        const answer = answers.next().catch((cause: unknown) => {
          throw translated(cause, isReached);
        });
        // After its first answer a join sends heartbeats only.
        const next = await (watched === undefined || (isReached && isJoin(method)) ? answer : watched(answer));
        isOver = next.done === true;
        if (next.done === true) return;
        isReached = true;
        if (isJoin(method) && (next.value as PassiveHello).working) watch?.beat();
        yield next.value;
      }
    } finally {
      // Not awaited: it would wait for the answer that does not come.
      if (!isOver) void Promise.resolve(answers.return?.()).catch(() => {});
    }
  });
}

function isJoin(method: DescMethod): boolean {
  return method === PassiveParty.method.join;
}

/** The connection was refused, or no party is running: TLS does not always show which. */
function unreached(error: TandemError, party: string, cause: unknown, at?: string): TandemError {
  if (error.code !== "PARTY_LOST" || isPartyFault(error)) return error;
  const where = at === undefined ? "" : ` at ${at}`;
  const trouble = connectionTrouble(cause, party, at ?? party);
  const why =
    trouble === null
      ? `: the connection was closed before it answered (${peerText(ConnectError.from(cause).rawMessage)}). ` +
        `${party} must start its party again if it is not running, and else look in its log: it may refuse this ` +
        "party's certificate"
      : `: ${troubleWords(trouble, party)}`;
  const code = trouble?.step === "accepted" ? "CERTIFICATE" : "PARTY_LOST";
  return new TandemError(code, `party ${party} cannot be reached${where}${why}`, { cause });
}

function named(party: string, error: TandemError): TandemError {
  if (error.message.includes(party)) return error;
  return new TandemError(error.code, `party ${party}: ${error.message}`, { cause: error });
}
