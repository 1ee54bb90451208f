/**
 * A pipe through a relay: TCP, perhaps through a proxy, TLS to the relay, and a WebSocket in it. The relay proves who
 * it is to keep tokens from others. The parties' own TLS inside does not rely on it.
 */
import { readFile } from "node:fs/promises";
import { isIP, type Socket } from "node:net";
import { connect as connectTls, type TLSSocket } from "node:tls";
import type { IncomingMessage } from "node:http";
import { readToken } from "../../base/files/token-file.ts";
import { withPackages } from "../../base/optional-package.ts";
import { TandemError } from "../../base/error.ts";
import { peerText } from "../../wire/peer-text.ts";
import { type ConnectionTrouble, connectionTrouble, StepError } from "../connection-trouble.ts";
import { CertificateRefused, checkCertificate } from "../pinned-certificate.ts";
import type { Address } from "../tls-settings.ts";
import { asSocket } from "./as-socket.ts";
import { dial, openMsMax, timedOut } from "./dial.ts";
import type { ProxyChoice } from "./proxy.ts";
import {
  relayClosings,
  type RelayEnd,
  relayHeader,
  relayProtocol,
  type RelayRefusal,
  relayRefusals,
  roomPath,
} from "./relay-terms.ts";
import { WebSocketPipe } from "./web-socket-pipe.ts";

export interface RelayAccess extends Address {
  /** Of the URL, where a gateway has the relay below a path; without a slash at its end. */
  readonly prefix: string;
  readonly room: string;
  readonly end: RelayEnd;
  /** Read at each connection, so that it can be replaced. */
  readonly tokenFile: string;
  readonly insecureFiles: boolean;
  /** Of the relay's certificate; empty: it must be of an authority. */
  readonly fingerprints: readonly string[];
  /** PEM file; left out: those that Node knows. */
  readonly authority?: string | undefined;
  readonly frameBytesMax: number;
  readonly proxy?: ProxyChoice;
}

/** Called at each step that succeeded. */
export type OnRelayStep = (step: "TCP" | "relay's TLS" | "relay", words: string) => void;

/** @returns a pipe that waits for the other end. @throws StepError */
export async function openAtRelay(
  access: RelayAccess,
  { timeoutMs = openMsMax, onStep = () => {} }: { readonly timeoutMs?: number; readonly onStep?: OnRelayStep } = {},
): Promise<WebSocketPipe> {
  const at = relayPlace(access);
  const token = await tokenOf(access);
  const stream = await dial(access, timeoutMs).catch((cause: unknown) => {
    throw relayed(cause, at);
  });
  onStep("TCP", `${access.host}:${access.port} accepts connections`);
  const socket = await secured(access, stream, timeoutMs, at);
  onStep("relay's TLS", `${socket.getProtocol() ?? "TLS"}, and the certificate is ${trustWords(access)}`);
  const pipe = await upgraded(access, socket, token, timeoutMs, at);
  onStep("relay", `${at} is a relay, and room ${access.room} accepts this party as its ${access.end} end`);
  return pipe;
}

/** The same, joined to the other end, as a socket. @throws StepError if there is none in time */
export async function openThroughRelay(
  access: RelayAccess,
  partner: string,
  options: { readonly timeoutMs?: number; readonly onStep?: OnRelayStep } = {},
): Promise<Socket> {
  const pipe = await openAtRelay(access, options);
  if (await pipe.paired) return asSocket(pipe);
  throw notPaired(access, partner, pipe.closeCode);
}

export function relayPlace({ host, port }: Address): string {
  return `${host}:${port}`;
}

/** Why a connection that waited was closed. */
export function notPaired({ room, ...address }: RelayAccess, partner: string, closeCode: number): StepError {
  const at = relayPlace(address);
  if (closeCode === relayClosings.absent)
    return trouble(
      `the relay ${at} is there, and ${partner} is not: no connection of it waits in room ${room}`,
      "partner",
      "start its party, with the same room and its own token under 'relay' in its config",
    );
  if (closeCode === relayClosings.stopping)
    return trouble(`the relay ${at} is stopping`, "relay", "start it again; connections are tried until then");
  if (closeCode === relayClosings.displaced)
    return trouble(
      `the relay ${at} closed a connection that waited in room ${room}, since newer ones of the same end wait`,
      "both",
      "make sure that one party only has this token",
    );
  return trouble(`the connection to the relay ${at} was lost`, "relay", "look whether it runs");
}

async function tokenOf({ tokenFile, insecureFiles }: RelayAccess): Promise<string> {
  try {
    return await readToken(tokenFile, insecureFiles);
  } catch (cause) {
    if (!(cause instanceof TandemError)) throw cause;
    throw trouble(
      cause.message,
      "own",
      "store the token that the relay's operator sent for its end there",
      cause,
      true,
    );
  }
}

async function secured(access: RelayAccess, stream: Socket, timeoutMs: number, at: string): Promise<TLSSocket> {
  const { host, fingerprints, authority } = access;
  const isPinned = fingerprints.length > 0;
  const ca = isPinned || authority === undefined ? null : await authorityIn(authority);
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      socket: stream,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ALPNProtocols: ["http/1.1"],
      rejectUnauthorized: !isPinned,
      ...(ca === null ? {} : { ca }),
    });
    const deadline = setTimeout(() => socket.destroy(timedOut(timeoutMs)), timeoutMs);
    socket.once("close", () => clearTimeout(deadline));
    socket.once("error", (cause) => reject(ofTls(cause, at)));
    socket.once("secureConnect", () => {
      clearTimeout(deadline);
      const checked = isPinned
        ? checkCertificate(socket.getPeerCertificate().raw, [{ name: "relay", fingerprints }])
        : null;
      if (checked instanceof CertificateRefused) socket.destroy(checked);
      else resolve(socket);
    });
  });
}

async function authorityIn(path: string): Promise<string> {
  return readFile(path, "utf8").catch((cause: unknown) => {
    throw trouble(`${path}, the relay's authority, cannot be read`, "own", "correct relay.authority", cause, true);
  });
}

function upgraded(
  access: RelayAccess,
  socket: TLSSocket,
  token: string,
  timeoutMs: number,
  at: string,
): Promise<WebSocketPipe> {
  return withPackages({ feature: "relay", packages: ["ws"] }, async () => {
    const { WebSocket } = await import("./web-socket.ts");
    return new Promise((resolve, reject) => {
      const opening = new WebSocket(`wss://${at}${access.prefix}${roomPath(access.room, access.end)}`, relayProtocol, {
        createConnection: () => socket,
        headers: { authorization: `Bearer ${token}` },
        handshakeTimeout: timeoutMs,
        maxPayload: access.frameBytesMax,
        perMessageDeflate: false,
        followRedirects: false,
      });
      const fail = (error: Error): void => {
        socket.destroy();
        reject(error);
      };
      opening.once("unexpected-response", (_request, response) => fail(refused(response, access, at)));
      opening.once("error", (cause) => fail(relayed(cause, at)));
      opening.once("open", () => resolve(new WebSocketPipe(opening, access.frameBytesMax)));
    });
  });
}

function refused({ statusCode = 0, headers }: IncomingMessage, { room, end }: RelayAccess, at: string): StepError {
  const reason = headers[relayHeader];
  if (typeof reason !== "string" || !Object.hasOwn(relayRefusals, reason))
    return trouble(
      `what answers at ${at} is not a relay: it answers ${statusCode} to the request for room ${room}`,
      "own",
      "compare relay.url with what the relay's operator sent (a gateway needs WebSockets and the path)",
    );
  switch (reason as RelayRefusal) {
    case "token":
      return trouble(
        `the relay ${at} has no room ${room}, or another token for it`,
        "own",
        "compare relay.room, and the token in relay.token_file, with what the relay's operator sent",
        undefined,
        true,
      );
    case "end":
      return trouble(
        `the token in relay.token_file is not that of the ${end} end of room ${room}, but of the other`,
        "own",
        `store the token of the ${end} end there, and keep the other one secret`,
        undefined,
        true,
      );
    case "full":
      return trouble(
        `the ${end} end of room ${room} at the relay ${at} has as many connections as it may have`,
        "relay",
        "raise limits.connections_per_end, or look whether another program has this token",
      );
    case "rate":
      return trouble(
        `the ${end} end of room ${room} at the relay ${at} has connected too often within a minute`,
        "relay",
        "raise limits.connections_per_minute, or look whether another program has this token",
      );
    case "stopping":
      return trouble(`the relay ${at} is stopping`, "relay", "start it again; connections are tried until then");
    case "request":
      return trouble(
        `the relay ${at} does not understand the request for room ${room}: it has another release, or another path`,
        "both",
        "compare relay.url and the releases of Tandem",
      );
  }
}

function ofTls(cause: NodeJS.ErrnoException, at: string): StepError {
  if (cause instanceof CertificateRefused)
    return trouble(
      `${at} shows another certificate than the pinned one of the relay: ${cause.message}`,
      "both",
      "compare relay.fingerprint with what the relay's operator sent (or a proxy between them opens TLS)",
      cause,
      true,
    );
  const code = cause.code ?? "unknown";
  if (/WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST/.test(code))
    return trouble(`what answers at ${at} is not a relay: it does not speak TLS`, "own", "correct relay.url", cause);
  if (/CERT|SELF_SIGNED|UNABLE_TO/.test(code))
    return trouble(
      `the certificate of the relay ${at} is not trusted (${peerText(code)})`,
      "own",
      "pin it by relay.fingerprint, or name the authority that issued it by relay.authority " +
        "(where a proxy opens TLS, that is the proxy's)",
      cause,
      true,
    );
  return relayed(cause, at);
}

/** An error of the connection to the relay, which is about the relay and not about the partner. */
function relayed(cause: unknown, at: string): StepError {
  if (cause instanceof StepError) return cause;
  const known = connectionTrouble(cause, "the relay", at);
  if (known !== null) return new StepError({ ...known, by: known.by === "partner" ? "relay" : known.by }, { cause });
  return trouble(`the connection to the relay ${at} was lost`, "relay", "look whether it runs", cause);
}

function trouble(
  words: string,
  by: ConnectionTrouble["by"],
  todo: string,
  cause?: unknown,
  isLasting = false,
): StepError {
  return new StepError({ step: "relay", words, by, todo, isLasting }, cause === undefined ? {} : { cause });
}

function trustWords({ fingerprints, authority }: RelayAccess): string {
  if (fingerprints.length > 0) return "the pinned one";
  return authority === undefined ? "of an authority that this machine trusts" : "of the authority in the config";
}
