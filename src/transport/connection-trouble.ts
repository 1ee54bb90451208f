/**
 * What an error of a connection means, and which side has to act. Errors of sockets and of TLS do not say it: a server
 * of plain HTTP is "wrong version number", and a name that does not exist looks like a party that is not running.
 */
import { TandemError } from "../base/error.ts";
import { CertificateRefused } from "./pinned-certificate.ts";

/** How far a connection came. */
export type ConnectionStep = "name" | "TCP" | "proxy" | "relay" | "TLS" | "fingerprint" | "accepted";

export interface ConnectionTrouble {
  readonly step: ConnectionStep;
  readonly words: string;
  readonly by: "own" | "partner" | "both" | "relay";
  /** Completes "<who> must ...". */
  readonly todo: string;
  /** It will not pass without a change of a config, a certificate or a name. */
  readonly isLasting: boolean;
}

/** Of the reasons for which a server closes a connection after TLS (connection-gate.ts). */
export const refusals = {
  unknown: "does not pin this party's certificate",
  early: "finds this party's certificate not valid yet",
  expired: "finds this party's certificate expired",
} as const;

export type Refusal = keyof typeof refusals;

export class RefusedByPeer extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(`the party ${refusals[refusal]}`);
    this.refusal = refusal;
  }
}

/** An error that already knows its step, such as that of a proxy. */
export class StepError extends Error {
  readonly trouble: ConnectionTrouble;

  constructor(trouble: ConnectionTrouble, options?: { cause?: unknown }) {
    super(trouble.words, options);
    this.trouble = trouble;
  }
}

const noTls: readonly RegExp[] = [
  /WRONG_VERSION_NUMBER/,
  /PACKET_LENGTH_TOO_LONG/,
  /HTTP_REQUEST/,
  /UNEXPECTED_MESSAGE/,
];
const unissued = /UNABLE_TO_VERIFY|UNABLE_TO_GET_ISSUER|SELF_SIGNED|DEPTH_ZERO|CERT_UNTRUSTED|CERT_SIGNATURE_FAILURE/;

/** @param at host and port @returns null for an error that is not about a connection */
export function connectionTrouble(error: unknown, party: string, at: string): ConnectionTrouble | null {
  for (const cause of causesOf(error)) {
    if (cause instanceof StepError) return cause.trouble;
    if (cause instanceof RefusedByPeer) return refused(cause.refusal, party);
    if (cause instanceof CertificateRefused) return foreign(cause, party, at);
    const known = ofCode(`${(cause as NodeJS.ErrnoException).code ?? ""}`, cause.message, party, at);
    if (known !== null) return known;
  }
  return null;
}

function ofCode(code: string, message: string, party: string, at: string): ConnectionTrouble | null {
  const host = at.replace(/:\d+$/, "");
  if (code === "ENOTFOUND")
    return {
      step: "name",
      words: `the host name ${host} of ${party} is unknown (no such name in DNS)`,
      by: "own",
      todo: "correct the host in its config, or have its network team add the name",
      isLasting: true,
    };
  if (code === "EAI_AGAIN")
    return {
      step: "name",
      words: `the host name ${host} of ${party} cannot be looked up: no name server answers`,
      by: "own",
      todo: "look at the name servers of this machine (/etc/resolv.conf)",
      isLasting: false,
    };
  if (code === "ECONNREFUSED")
    return {
      step: "TCP",
      words: `nothing listens at ${at}, where ${party} should`,
      by: "partner",
      todo: "start its party there, or give the right address (a firewall may also answer so)",
      isLasting: false,
    };
  if (code === "ETIMEDOUT" || code === "TIMEOUT")
    return {
      step: "TCP",
      words:
        `${at}, where ${party} should listen, does not answer: ` +
        "a firewall drops the connection, or the machine is off",
      by: "both",
      todo: "ask their network teams whether this machine may connect to that address and port",
      isLasting: false,
    };
  if (code === "EHOSTUNREACH" || code === "ENETUNREACH" || code === "EADDRNOTAVAIL")
    return {
      step: "TCP",
      words: `there is no route from this machine to ${at}`,
      by: "own",
      todo: "correct the host in its config, or have its network team open the route",
      isLasting: false,
    };
  if (code === "EACCES" || code === "EPERM")
    return {
      step: "TCP",
      words: `this machine does not allow connections to ${at} (${code})`,
      by: "own",
      todo: "allow it in the firewall or the security policy of this machine",
      isLasting: true,
    };
  if (noTls.some((form) => form.test(code)))
    return {
      step: "TLS",
      words: `what answers at ${at} is not ${party}: it does not speak TLS (a web server without TLS does so)`,
      by: "both",
      todo: "compare host and port with the 'listen' of that party's config",
      isLasting: true,
    };
  if (/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|NO_PROTOCOLS/.test(code))
    return {
      step: "TLS",
      words: `what answers at ${at} does not speak TLS 1.3: it is another server, or a device that opens TLS`,
      by: "both",
      todo: "compare host and port with the 'listen' of that party's config, and ask for devices that open TLS",
      isLasting: true,
    };
  if (/NO_APPLICATION_PROTOCOL/.test(code))
    return {
      step: "TLS",
      words:
        `what answers at ${at} is not a party that this one can call: ` +
        "it is another server, or one of the same role",
      by: "both",
      todo: "compare host and port, and that one side is active and the other passive",
      isLasting: true,
    };
  if (/UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|CERTIFICATE_REQUIRED|ALERT_CERTIFICATE/.test(code))
    return {
      step: "accepted",
      words: `${party} refuses this party's certificate: it was not issued by the authority that ${party} names`,
      by: "both",
      todo: "use certificates of one authority, or leave tls.authority out of both configs",
      isLasting: true,
    };
  if (unissued.test(code))
    return {
      step: "fingerprint",
      words:
        `the certificate of ${party} at ${at} was not issued by the authority ` +
        "that this party's tls.authority names",
      by: "both",
      todo: "use certificates of one authority, or leave tls.authority out of both configs",
      isLasting: true,
    };
  if (code === "CERT_HAS_EXPIRED")
    return {
      step: "fingerprint",
      words: `the certificate of ${party} at ${at} has expired`,
      by: "partner",
      todo: "renew its certificate, and send the new fingerprint",
      isLasting: true,
    };
  if (code === "CERT_NOT_YET_VALID")
    return {
      step: "fingerprint",
      words: `the certificate of ${party} at ${at} is not valid yet, by this machine's clock`,
      by: "both",
      todo: "compare their clocks",
      isLasting: true,
    };
  if (code === "ECONNRESET" || code === "EPIPE" || /socket (hang up|disconnected)/.test(message))
    return {
      step: "TLS",
      words:
        `what answers at ${at} closes the connection at once: ${party} refuses this party's certificate, ` +
        "or a firewall, a proxy or another server answers there",
      by: "partner",
      todo:
        "look for this connection in the log of its party: a 'turned-away' line says why, " +
        "and without one it never arrived",
      isLasting: false,
    };
  return null;
}

function foreign({ fault, message }: CertificateRefused, party: string, at: string): ConnectionTrouble {
  const step = "fingerprint" as const;
  if (fault === "expired")
    return {
      step,
      words: `the pinned certificate of ${party} at ${at} has expired: ${message}`,
      by: "partner",
      todo: "renew its certificate, and send the new fingerprint",
      isLasting: true,
    };
  if (fault === "early")
    return {
      step,
      words: `the pinned certificate of ${party} at ${at} is not valid yet, by this machine's clock: ${message}`,
      by: "both",
      todo: "compare their clocks",
      isLasting: true,
    };
  return {
    step,
    words: `${at} shows another certificate than ${party}'s pinned one: ${message}`,
    by: "both",
    todo:
      "compare the fingerprint by telephone: " +
      "either the certificate was renewed, or the address is another machine's, " +
      "or a device between them opens TLS",
    isLasting: true,
  };
}

function refused(refusal: Refusal, party: string): ConnectionTrouble {
  const step = "accepted" as const;
  switch (refusal) {
    case "unknown":
      return {
        step,
        words: `${party} answers, and does not know this party's certificate`,
        by: "partner",
        todo: "pin this party's fingerprint under 'active' in its config (compare it by telephone)",
        isLasting: true,
      };
    case "expired":
      return {
        step,
        words: `${party} finds this party's certificate expired`,
        by: "both",
        todo: "compare their clocks, and renew the certificate if it has expired",
        isLasting: true,
      };
    case "early":
      return {
        step,
        words: `${party} finds this party's certificate not valid yet`,
        by: "both",
        todo: "compare their clocks",
        isLasting: true,
      };
  }
}

/** The words for an error: what is wrong, and who has to do what. @param own this party's name, if it is known */
export function troubleWords({ words, by, todo }: ConnectionTrouble, party: string, own = "this party"): string {
  return `${words}. ${actors(by, party, own)} must ${todo}`;
}

export function actors(by: ConnectionTrouble["by"], party: string, own: string): string {
  if (by === "relay") return "the relay's operator";
  return by === "own" ? own : by === "partner" ? party : `${own} and ${party}`;
}

function causesOf(error: unknown): Error[] {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.flatMap(causesOf);
  if (!(error instanceof Error)) return [];
  return [error, ...causesOf(error.cause)];
}

/** Whether a connection failed for a reason that waiting does not change. */
export function isLastingTrouble(error: unknown): boolean {
  return error instanceof TandemError && connectionTrouble(error, "", "")?.isLasting === true;
}
