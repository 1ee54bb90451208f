/**
 * TandemErrors across the wire: a peer receives code and message, never a stack or data. Any other failure of a call
 * means that the party, or the connection to it, is lost.
 */
import { Code, ConnectError } from "@connectrpc/connect";
import { isErrorCode, TandemError } from "../base/error.ts";
import { peerText } from "../wire/peer-text.ts";
import { StepError } from "./connection-trouble.ts";
import { CertificateRefused } from "./pinned-certificate.ts";

export const codeHeader = "tandem-code";

/** Whether an error in a handler is a bug here, not caused by the peer or the network. */
export function isOwnFault(error: unknown): boolean {
  return error instanceof TandemError ? error.code === "INTERNAL" : !(error instanceof ConnectError);
}

export function toWireError(error: unknown): ConnectError {
  if (error instanceof ConnectError) return error;
  if (error instanceof TandemError && !isOwnFault(error)) {
    return new ConnectError(error.message, Code.FailedPrecondition, { [codeHeader]: error.code });
  }
  return new ConnectError("an internal error; the party's own log has it", Code.Internal, { [codeHeader]: "INTERNAL" });
}

/** Whether a peer, or the connection to it, reported the error. */
export function isPeerError(error: TandemError): boolean {
  return causes(error).some((cause) => cause instanceof ConnectError);
}

/** Whether a party was lost because of its own bug: a retry would not help. */
export function isPartyFault(error: TandemError): boolean {
  return causes(error).some((cause) => cause instanceof ConnectError && cause.metadata.get(codeHeader) === "INTERNAL");
}

function causes(error: Error): Error[] {
  return error.cause instanceof Error ? [error, ...causes(error.cause)] : [error];
}

export function fromWireError(error: unknown, partyName: string): TandemError {
  if (error instanceof TandemError) return error;
  const wire = ConnectError.from(error);
  const message = peerText(wire.rawMessage);
  const code = wire.metadata.get(codeHeader);
  if (code === "INTERNAL")
    return new TandemError("PARTY_LOST", `party ${partyName} failed: ${message}`, { cause: error });
  if (code !== null && isErrorCode(code)) return new TandemError(code, message, { cause: error });
  if (isCertificateTrouble(wire)) {
    return new TandemError("CERTIFICATE", `party ${partyName}: the certificates do not match: ${message}`, {
      cause: error,
    });
  }
  if (wire.code === Code.ResourceExhausted || wire.code === Code.InvalidArgument || isUnreadable(wire)) {
    return new TandemError("PROTOCOL_STATE", `party ${partyName}: a message was refused: ${message}`, { cause: error });
  }
  return new TandemError("PARTY_LOST", `party ${partyName} is gone: ${message}`, { cause: error });
}

/** Bytes that are not a message of the call, at either end: the sender is not lost, and would send them again. */
function isUnreadable({ code, rawMessage }: ConnectError): boolean {
  return code === Code.Internal && rawMessage.startsWith("parse binary");
}

/**
 * Whether one side has refused the other's certificate, which happens while a connection is opened. Any other TLS
 * error, such as a corrupted record, is a lost connection.
 */
function isCertificateTrouble(error: ConnectError): boolean {
  if (error.cause instanceof CertificateRefused) return true;
  if (error.cause instanceof StepError) return false; // says itself what it means
  const cause =
    error.cause instanceof Error ? `${(error.cause as NodeJS.ErrnoException).code ?? ""} ${error.cause.message}` : "";
  return /cert|ALTNAME|SELF_SIGNED|UNKNOWN_CA|ERR_TLS_INVALID/i.test(cause);
}
