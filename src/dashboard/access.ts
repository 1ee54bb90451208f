/**
 * Access control of the dashboard. Other users and other pages on the same machine are not trusted. The printed URL
 * contains a 256-bit token; a request with it gets a cookie, and the token is removed from the address bar. Every other
 * request without that cookie gets an empty 401. Host names other than this machine's are refused first, so that a
 * foreign page cannot reach the server by pointing its own name here (DNS rebinding).
 */
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { isIP } from "node:net";
import { hostname } from "node:os";
import { isLoopback } from "../base/listening/loopback.ts";
import { osRandom } from "../base/random.ts";

const tokenBytes = 32;
const tokenParameter = "token";

export type Verdict = "authenticated" | "valid-token" | "unauthenticated" | "wrong-host";

export class Access {
  readonly #token = randomToken();
  /** Differs from the token: the cookie is valid for this server only, and expires with it. */
  readonly #session = randomToken();
  readonly #loopbackOnly: boolean;
  readonly #host: string;
  #port = 0;

  constructor(host: string) {
    this.#host = host;
    this.#loopbackOnly = isLoopback(host);
  }

  /** Known once the server listens. */
  set port(port: number) {
    this.#port = port;
  }

  get url(): string {
    const host = this.#host === "0.0.0.0" || this.#host === "::" ? hostname() : this.#host;
    return `http://${isIP(host) === 6 ? `[${host}]` : host}:${this.#port}/?${tokenParameter}=${this.#token}`;
  }

  /** Cookies are shared by all ports of a host: the name distinguishes servers. */
  get cookie(): string {
    return `${this.#cookieName}=${this.#session}; HttpOnly; SameSite=Strict; Path=/`;
  }

  get #cookieName(): string {
    return `tandem-${this.#port}`;
  }

  judge(request: IncomingMessage, url: URL): Verdict {
    if (!this.#isOurName(request.headers.host ?? "")) return "wrong-host";
    if (this.#hasCookie(request)) return "authenticated";
    const token = url.searchParams.get(tokenParameter);
    return url.pathname === "/" && token !== null && isEqual(token, this.#token) ? "valid-token" : "unauthenticated";
  }

  #hasCookie(request: IncomingMessage): boolean {
    const cookies = (request.headers.cookie ?? "").split(";").map((cookie) => cookie.trim());
    const prefix = `${this.#cookieName}=`;
    return cookies.some((cookie) => cookie.startsWith(prefix) && isEqual(cookie.slice(prefix.length), this.#session));
  }

  /** DNS names can be rebound, addresses cannot. */
  #isOurName(given: string): boolean {
    const match = /^(?:\[([0-9a-f:]+)\]|([^:[\]]+))(?::(\d+))?$/i.exec(given);
    if (match === null || Number(match[3] ?? 80) !== this.#port) return false;
    const name = (match[1] ?? match[2]).toLowerCase();
    if (isLoopback(name)) return true;
    return (
      !this.#loopbackOnly &&
      (isIP(name) !== 0 || name === this.#host.toLowerCase() || name === hostname().toLowerCase())
    );
  }
}

function randomToken(): string {
  return Buffer.from(osRandom.fill(new Uint8Array(tokenBytes))).toString("base64url");
}

function isEqual(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)];
  return a.length === b.length && timingSafeEqual(a, b);
}
