/** A client of any service whose calls fail with a TandemError, whatever goes wrong on the wire. */
import type { DescService } from "@bufbuild/protobuf";
import { type CallOptions, type Client, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { TandemError } from "../base/error.ts";
import { peerText } from "../wire/peer-text.ts";
import { everyCall } from "./every-call.ts";
import { fromWireError, isPartyFault } from "./wire-error.ts";

export interface Translation<Service extends DescService> {
  /** Calls that may be the first to a party. If one breaks before it is answered, there may be nobody. */
  readonly opening: keyof Service["method"] | readonly (keyof Service["method"])[];
  /** Whether every error says which party it is about. */
  readonly isNaming?: boolean;
  /** Where the party should be, for people: host and port. */
  readonly at?: string;
}

export function translatedClient<Service extends DescService>(
  service: Service,
  party: string,
  transport: Transport,
  { opening, isNaming = false, at }: Translation<Service>,
): Client<Service> {
  const client = createClient(service, transport);
  const isOpening = (name: string): boolean => [opening].flat().includes(name);
  const translated = (cause: unknown, isReached: boolean): TandemError => {
    const error = fromWireError(cause, party);
    const placed = isReached ? error : unreached(error, party, cause, at);
    return isNaming ? named(party, placed) : placed;
  };
  return everyCall<Client<Service>, CallOptions | undefined>(service, () => client, {
    async one(call, { localName }) {
      try {
        return await call();
      } catch (cause) {
        throw translated(cause, !isOpening(localName));
      }
    },
    async *many(call, { localName }) {
      let isReached = !isOpening(localName);
      try {
        for await (const answer of call()) {
          isReached = true;
          yield answer;
        }
      } catch (cause) {
        throw translated(cause, isReached);
      }
    },
  });
}

/** A connection that breaks here was refused, or there is nobody: TLS does not always tell which. */
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
