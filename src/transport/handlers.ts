/** The handlers of any service, and how errors are sent to the caller. */
import type { DescMessage, DescMethod, DescService, MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectError, HandlerContext, MethodImpl, ServiceImpl } from "@connectrpc/connect";
import { callsTo, everyCall } from "../wire/every-call.ts";
import { toWireError } from "./wire-error.ts";

/** An object that answers the calls of a service: methods with the names of the calls. */
export type Answers<Service extends DescService> = {
  [Name in keyof Service["method"]]: Answer<Service["method"][Name]>;
};

type Answer<Method extends DescMethod> = (
  request: Parameters<MethodImpl<Method>>[0],
  context: HandlerContext,
) => Method["methodKind"] extends "server_streaming" | "bidi_streaming"
  ? AsyncIterable<MessageInitShape<Method["output"]>>
  : OneAnswer<Method["output"]>;

/** No value stands for the empty message. */
type OneAnswer<Output extends DescMessage> = MessageInitShape<Output> | void | Promise<MessageInitShape<Output> | void>;

/** Converts an error for the wire. */
export type OnError = (error: unknown, context: HandlerContext) => ConnectError;

export function toHandlers<Service extends DescService>(
  service: Service,
  answers: Answers<Service>,
  onError: OnError = toWireError,
): ServiceImpl<Service> {
  const answer = callsTo<HandlerContext>(answers);
  return everyCall<ServiceImpl<Service>, HandlerContext>(service, async function* (method, requests, context) {
    try {
      yield* answer(method, requests, context);
    } catch (error) {
      throw onError(error, context);
    }
  });
}
