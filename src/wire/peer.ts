/**
 * A passive party as the active party sees it: the service of proto/, as plain methods. The types are derived from the
 * service's descriptor. The in-memory and the TLS transport both provide a PassivePeer, and the protocol does not
 * depend on which.
 */
import type { DescMethod, DescService, MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { PassiveParty } from "./generated/tandem/v1/tandem_pb.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
}

export type PassivePeer = { readonly name: string } & Calls<typeof PassiveParty>;

/** The calls of a service, by their names. */
type Calls<Service extends DescService> = {
  readonly [Name in keyof Service["method"]]: Call<Service["method"][Name]>;
};

type Call<Method extends DescMethod> = (request: Request<Method>, options: CallOptions) => Response<Method>;

type Request<Method extends DescMethod> = Method["methodKind"] extends "client_streaming" | "bidi_streaming"
  ? AsyncIterable<MessageInitShape<Method["input"]>>
  : MessageInitShape<Method["input"]>;

type Response<Method extends DescMethod> = Method["methodKind"] extends "server_streaming" | "bidi_streaming"
  ? AsyncIterable<MessageShape<Method["output"]>>
  : Promise<MessageShape<Method["output"]>>;
