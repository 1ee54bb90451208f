/**
 * The way out of a company's network: an HTTP proxy that opens a connection to host and port (CONNECT, RFC 9110,
 * 9.3.6). It is the one that the config names, and otherwise that of HTTPS_PROXY, except for hosts that NO_PROXY lists
 * and for this machine.
 */
import { request } from "node:http";
import { isIP, isIPv6, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { readSecretFile } from "../../base/files/secret-file.ts";
import { isLoopback } from "../../base/listening/loopback.ts";
import { peerText } from "../../wire/peer-text.ts";
import { StepError } from "../connection-trouble.ts";
import type { Address } from "../tls-settings.ts";

export interface Proxy extends Address {
  /** TLS to the proxy itself. */
  readonly isSecure: boolean;
  /** Reads `user:password`. */
  readonly credentials: (() => Promise<string>) | null;
}

/** Undefined: that of the environment. Null: none. */
export type ProxyChoice = Proxy | null | undefined;

const urlSyntax = /^(https?):\/\/(\[[0-9a-fA-F:.]+\]|[^\s/:@?#[\]]+)(?::([0-9]{1,5}))?\/?$/;
export const proxyUrlWords = "must be http://host:port, https://host:port or none";

/** @returns null for text that is not the URL of a proxy */
export function proxyAt(url: string, credentials: Proxy["credentials"] = null): Proxy | null {
  const [, protocol, host, port] = urlSyntax.exec(url) ?? [];
  if (host === undefined) return null;
  const isSecure = protocol === "https";
  const portNumber = port === undefined ? (isSecure ? 443 : 80) : Number(port);
  if (portNumber === 0 || portNumber > 65_535) return null;
  return { isSecure, host: host.replaceAll(/[[\]]/g, ""), port: portNumber, credentials };
}

/** A file with `user:password`. */
export function credentialsIn(path: string, insecure: boolean): Proxy["credentials"] {
  return async () => {
    const text = await readSecretFile(path, { insecure }).catch((cause: unknown) => {
      const words = cause instanceof Error && cause.name === "TandemError" ? cause.message : `${path} cannot be read`;
      throw ofProxy(words, "own", "store user:password there, readable by its owner only", cause);
    });
    return text.trim();
  };
}

/** @throws StepError for an HTTPS_PROXY that is no URL of a proxy */
export function proxyFor(address: Address, choice: ProxyChoice, environment = process.env): Proxy | null {
  if (choice !== undefined) return choice;
  const url = environment["HTTPS_PROXY"] ?? environment["https_proxy"] ?? "";
  const exceptions = environment["NO_PROXY"] ?? environment["no_proxy"] ?? "";
  if (url === "" || isLoopback(address.host) || isException(address, exceptions)) return null;
  const [, scheme, userinfo = "", rest] = /^(https?:\/\/)?(?:([^@/]*)@)?(.*)$/i.exec(url) ?? [];
  const proxy = proxyAt(`${(scheme ?? "http://").toLowerCase()}${rest}`, userinfo === "" ? null : decoded(userinfo));
  if (proxy !== null) return proxy;
  throw ofProxy(`the environment's HTTPS_PROXY is not http://host:port`, "own", "correct or unset HTTPS_PROXY");
}

function decoded(userinfo: string): Proxy["credentials"] {
  return () => Promise.resolve(userinfo.split(":").map(decodeURIComponent).join(":"));
}

/** As curl reads NO_PROXY: names, with what is below them, addresses and `*`, separated by commas. */
function isException({ host, port }: Address, exceptions: string): boolean {
  const wanted = host.toLowerCase();
  return exceptions.split(/[\s,]+/).some((entry) => {
    if (entry === "*") return true;
    const [, name = "", ofPort] = /^\.?(.*?)(?::(\d+))?$/.exec(entry.toLowerCase().replace(/^\*\./, "")) ?? [];
    if (name === "" || (ofPort !== undefined && Number(ofPort) !== port)) return false;
    return wanted === name || wanted.endsWith(`.${name}`);
  });
}

/** @param socket connected to the proxy @returns a connection to the address, with nothing of it read */
export async function throughProxy(proxy: Proxy, socket: Socket, target: Address, timeoutMs: number): Promise<Socket> {
  const at = `${proxy.host}:${proxy.port}`;
  const host = `${isIPv6(target.host) ? `[${target.host}]` : target.host}:${target.port}`;
  const credentials = proxy.credentials === null ? null : await proxy.credentials();
  const stream = proxy.isSecure ? await secured(proxy, socket, at) : socket;
  return new Promise((resolve, reject) => {
    const asking = request({
      method: "CONNECT",
      path: host,
      createConnection: () => stream,
      headers: {
        host,
        ...(credentials === null
          ? {}
          : { "proxy-authorization": `Basic ${Buffer.from(credentials).toString("base64")}` }),
      },
    });
    const fail = (error: Error): void => {
      clearTimeout(deadline);
      stream.destroy();
      reject(error);
    };
    const deadline = setTimeout(
      () =>
        fail(
          ofProxy(
            `the proxy ${at} does not answer the request for ${host}`,
            "both",
            "ask the network team whether the proxy may connect to that address and port",
          ),
        ),
      timeoutMs,
    );
    asking.once("connect", ({ statusCode = 0, statusMessage = "" }, connection: Socket, head: Buffer) => {
      clearTimeout(deadline);
      if (statusCode !== 200) return fail(refusal(statusCode, statusMessage, at, host, credentials !== null));
      if (head.length > 0) connection.unshift(head);
      resolve(connection);
    });
    asking.once("error", (cause) =>
      fail(
        ofProxy(
          `what answers at ${at} is not an HTTP proxy`,
          "own",
          "correct the proxy in its config, or HTTPS_PROXY",
          cause,
        ),
      ),
    );
    asking.end();
  });
}

/** The proxy's own certificate, by the authorities that Node knows. */
function secured({ host }: Proxy, socket: Socket, at: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const secure = connectTls({ socket, host, ...(isIP(host) === 0 ? { servername: host } : {}) });
    secure.once("secureConnect", () => resolve(secure));
    secure.once("error", (cause: NodeJS.ErrnoException) => {
      const isPlain = /WRONG_VERSION|PACKET_LENGTH|HTTP_REQUEST/.test(cause.code ?? "");
      reject(
        isPlain
          ? ofProxy(`the proxy ${at} does not speak TLS`, "own", "write http:// before its name", cause)
          : ofProxy(
              `the certificate of the proxy ${at} is not trusted (${cause.code ?? "unknown"})`,
              "own",
              "name the authority that issued it in NODE_EXTRA_CA_CERTS, or use http:// where the proxy has it",
              cause,
            ),
      );
    });
  });
}

function refusal(status: number, message: string, at: string, target: string, isKnown: boolean): StepError {
  const said = `${status} ${peerText(message)}`.trim();
  if (status === 407)
    return isKnown
      ? ofProxy(`the proxy ${at} refuses the user or the password (${said})`, "own", "correct the proxy's credentials")
      : ofProxy(
          `the proxy ${at} wants a user and a password (${said})`,
          "own",
          "write user:password into a file and name it by credentials_file under proxy in its config",
        );
  if (status === 502 || status === 503 || status === 504)
    return ofProxy(
      `the proxy ${at} cannot reach ${target} (${said})`,
      "both",
      "look whether something listens there, and whether the proxy may connect to it",
    );
  if (status === 403 || status === 405)
    return ofProxy(
      `the proxy ${at} refuses connections to ${target} (${said})`,
      "own",
      "ask its network team to allow CONNECT to that name and port",
    );
  return ofProxy(`the proxy ${at} answers ${said} to the request for ${target}`, "own", "ask its network team why");
}

/** @param by which side can change it */
export function ofProxy(words: string, by: "own" | "both", todo: string, cause?: unknown): StepError {
  return new StepError({ step: "proxy", words, by, todo, isLasting: false }, cause === undefined ? {} : { cause });
}
