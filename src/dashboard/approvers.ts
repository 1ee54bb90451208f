/**
 * Who may decide about requests on the page: people with a token of their own, beside the one in the page's address,
 * with which jobs can only be looked at. A token is sent once; then a cookie stands for its name until it expires.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { osRandom } from "../base/random.ts";

const sessionBytes = 32;
const sessionMs = 8 * 3_600_000;
const sessionsMax = 100;
/** Wrong tokens of all callers in a minute: then none is looked at. */
const failuresMax = 10;
const minuteMs = 60_000;

export type SignIn = { readonly cookie: string } | "wrong token" | "too many";

export class Approvers {
  /** Digests of tokens, so that a comparison takes the same time whatever their length. */
  readonly #tokens: readonly { readonly name: string; readonly digest: Buffer }[];
  readonly #sessions = new Map<string, { readonly name: string; readonly until: number }>();
  readonly #now: () => number;
  #failures: number[] = [];

  /** @param tokens by name */
  constructor(tokens: ReadonlyMap<string, string>, now: () => number = Date.now) {
    this.#tokens = [...tokens].map(([name, token]) => ({ name, digest: digestOf(token) }));
    this.#now = now;
  }

  get exist(): boolean {
    return this.#tokens.length > 0;
  }

  signIn(token: string, port: number): SignIn {
    const now = this.#now();
    this.#failures = this.#failures.filter((at) => at > now - minuteMs);
    if (this.#failures.length >= failuresMax) return "too many";
    const given = digestOf(token);
    let name: string | null = null;
    for (const known of this.#tokens) if (timingSafeEqual(known.digest, given)) name = known.name;
    if (name === null) {
      this.#failures.push(now);
      return "wrong token";
    }
    const session = Buffer.from(osRandom.fill(new Uint8Array(sessionBytes))).toString("base64url");
    for (const [old, { until }] of this.#sessions)
      if (until <= now || this.#sessions.size >= sessionsMax) this.#sessions.delete(old);
    this.#sessions.set(digestOf(session).toString("hex"), { name, until: now + sessionMs });
    return { cookie: `${cookieName(port)}=${session}; HttpOnly; SameSite=Strict; Path=/` };
  }

  /** The name of the token that the request's cookie stands for; null: it has none. */
  nameOf(request: IncomingMessage, port: number): string | null {
    const prefix = `${cookieName(port)}=`;
    for (const part of (request.headers.cookie ?? "").split(";")) {
      const cookie = part.trim();
      if (!cookie.startsWith(prefix)) continue;
      const session = this.#sessions.get(digestOf(cookie.slice(prefix.length)).toString("hex"));
      if (session !== undefined && session.until > this.#now()) return session.name;
    }
    return null;
  }
}

function cookieName(port: number): string {
  return `tandem-approver-${port}`;
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
