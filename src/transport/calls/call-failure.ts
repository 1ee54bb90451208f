/** Errors in a stream of many calls: the same code, words and tandem-code as in the trailers of a call by itself. */
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { CallFailureSchema } from "../../wire/generated/tandem/v1/calls_pb.ts";
import { codeHeader, toWireError } from "../wire-error.ts";

/** Whoever reads it shows no more. */
const wordsMax = 4096;

export function failureBytes(error: unknown): Uint8Array {
  const { code, rawMessage, metadata } = toWireError(error);
  const message = rawMessage.slice(0, wordsMax);
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
    return new ConnectError("a failure that cannot be read", Code.InvalidArgument, undefined, undefined, cause);
  }
}

/** A header takes no other characters; codes have none. */
function headerText(text: string): string {
  return text.replaceAll(/[^A-Z_]/g, "");
}
