/** A client of any service: whatever goes wrong on the wire is a TandemError, and no call waits for ever. */
import type { DescService } from "@bufbuild/protobuf";
import { type CallOptions, type Client, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import { type AnyCall, callsTo, everyCall } from "../wire/every-call.ts";
import { peerText } from "../wire/peer-text.ts";
import type { CallWatch } from "./call-watch.ts";
import { watchedCalls } from "./watched-calls.ts";
import { fromWireError, isPartyFault } from "./wire-error.ts";

export interface ClientOptions<Service extends DescService> {
  /** Calls that may be the first to a party. If one breaks before it is answered, there may be no party. */
  readonly opening: keyof Service["method"] | readonly (keyof Service["method"])[];
  /** Whether every error says which party it is about. */
  readonly isNaming?: boolean;
  /** Where the party should be, for people: host and port. */
  readonly at?: string | undefined;
  /** Left out: a call waits until its connection is lost. */
  readonly watch?: CallWatch | undefined;
}

export function clientOver<Service extends DescService>(
  service: Service,
  party: string,
  transport: Transport,
  { watch, ...translation }: ClientOptions<Service>,
): Client<Service> {
  const calls = withTandemErrors(callsTo(createClient(service, transport)), party, translation);
  return everyCall(service, watch === undefined ? calls : watchedCalls(calls, watch));
}

function withTandemErrors<Service extends DescService>(
  call: AnyCall<CallOptions | undefined>,
  party: string,
  { opening, isNaming = false, at }: Omit<ClientOptions<Service>, "watch">,
): AnyCall<CallOptions | undefined> {
  const openings: readonly PropertyKey[] = [opening].flat();
  return async function* (method, requests, options) {
    let isReached = !openings.includes(method.localName);
    try {
      for await (const answer of call(method, requests, options)) {
        isReached = true;
        yield answer;
      }
    } catch (cause) {
      const error = fromWireError(cause, party);
      const placed = isReached ? error : unreached(error, party, cause, at);
      throw isNaming ? named(party, placed) : placed;
    }
  };
}

/** A connection that breaks here was refused, or there is no party: TLS does not always show which. */
function unreached(error: TandemError, party: string, cause: unknown, at?: string): TandemError {
  if (error.code !== "PARTY_LOST" || isPartyFault(error)) return error;
  const said = peerText(ConnectError.from(cause).rawMessage);
  const where = at === undefined ? "" : ` at ${at}`;
  const question = "is it running, and has it pinned this party's certificate?";
  return new TandemError("PARTY_LOST", `party ${party} cannot be reached${where}; ${question} (${said})`, { cause });
}

function named(party: string, error: TandemError): TandemError {
  if (error.message.includes(party)) return error;
  return new TandemError(error.code, `party ${party}: ${error.message}`, { cause: error });
}
