/** Errors in a shared stream of calls: the same code, message and tandem-code as in the trailers of a separate call. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { CallFailureSchema } from "../../wire/generated/tandem/v1/calls_pb.ts";
import { codeHeader, toWireError } from "../wire-error.ts";

/** The receiver does not show more than this. */
const messageCharactersMax = 4096;

export function failureBytes(error: unknown): Uint8Array {
  const { code, rawMessage, metadata } = toWireError(error);
  const message = rawMessage.slice(0, messageCharactersMax);
  return toBinary(
    CallFailureSchema,
    create(CallFailureSchema, { code, message, tandemCode: metadata.get(codeHeader) ?? "" }),
  );
}

export function failureFrom(bytes: Uint8Array): ConnectError {
  try {
    const { code, message, tandemCode } = fromBinary(CallFailureSchema, bytes);
    const known = Code[code] === undefined ? Code.Unknown : code;
    return new ConnectError(message, known, tandemCode === "" ? undefined : { [codeHeader]: headerText(tandemCode) });
  } catch (cause) {
    return new ConnectError("the failure message cannot be decoded", Code.InvalidArgument, undefined, undefined, cause);
  }
}

/** Error codes consist of these characters only. */
function headerText(text: string): string {
  return text.replaceAll(/[^A-Z_]/g, "");
}
