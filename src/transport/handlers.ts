/** The handlers of any service: who answers a call, and what the caller hears of an error. */
import type { DescMessage, DescMethod, DescService, MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectError, HandlerContext, MethodImpl, ServiceImpl } from "@connectrpc/connect";
import { everyCall } from "./every-call.ts";
import { toWireError } from "./wire-error.ts";

/** Whatever answers the calls of a service: methods with the names of the calls. */
export type Answers<Service extends DescService> = {
  [Name in keyof Service["method"]]: Answer<Service["method"][Name]>;
};

type Answer<Method extends DescMethod> = (
  request: Parameters<MethodImpl<Method>>[0],
  context: HandlerContext,
) => Method["methodKind"] extends "server_streaming" | "bidi_streaming"
  ? AsyncIterable<MessageInitShape<Method["output"]>>
  : OneAnswer<Method["output"]>;

/** Nothing stands for the empty message. */
type OneAnswer<Output extends DescMessage> = MessageInitShape<Output> | void | Promise<MessageInitShape<Output> | void>;

export interface Handling<Service extends DescService, Own extends keyof Service["method"]> {
  /** Calls in which the server itself has a part: it answers them instead. */
  readonly own?: Pick<Answers<Service>, Own>;
  /** What an error becomes on the wire. */
  readonly onError?: (error: unknown, context: HandlerContext) => ConnectError;
}

/** @param answers whoever answers a call; asked at every call */
export function handlersOf<Service extends DescService, Own extends keyof Service["method"] = never>(
  service: Service,
  answers: (context: HandlerContext) => Omit<Answers<Service>, Own>,
  { own, onError = toWireError }: Handling<Service, Own> = {},
): ServiceImpl<Service> {
  const target = ({ localName }: DescMethod, context: HandlerContext): object =>
    own !== undefined && Object.hasOwn(own, localName) ? own : answers(context);
  return everyCall<ServiceImpl<Service>, HandlerContext>(service, target, {
    async one(call, _method, context) {
      try {
        return (await call()) ?? {};
      } catch (error) {
        throw onError(error, context);
      }
    },
    async *many(call, _method, context) {
      try {
        yield* call();
      } catch (error) {
        throw onError(error, context);
      }
    },
  });
}
