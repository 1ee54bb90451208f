/**
 * Requests of a passive party on its page: everyone who may see the page may see them; who may decide is the matter of
 * approvers.ts. A decision is a POST from the page itself: another site's page can send neither its origin nor the
 * cookies.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import * as z from "zod/mini";
import { TandemError } from "../base/error.ts";
import type { Approvers } from "./approvers.ts";

/** Of one party. */
export interface RequestDecisions {
  list(): Promise<unknown>;
  actions(): Promise<unknown>;
  approve(request: string, who: string): Promise<unknown>;
  deny(request: string, who: string, reason: string): Promise<unknown>;
}

const bodyBytesMax = 4096;

const signIn = z.object({ token: z.string() });
const decision = z.object({
  request: z.string().check(z.regex(/^[0-9a-f]{8}$/)),
  what: z.enum(["approve", "deny"]),
  reason: z.string(),
});

/** @returns the answer's status and JSON */
export async function shownRequests(
  decisions: RequestDecisions,
  approvers: Approvers,
  request: IncomingMessage,
  port: number,
) {
  const [requests, actions] = await Promise.all([decisions.list(), decisions.actions()]);
  return { approver: approvers.nameOf(request, port), canSignIn: approvers.exist, requests, actions };
}

const signInPath = "/api/approver";
const decisionPath = "/api/decision";

export function isPosted(path: string): boolean {
  return path === signInPath || path === decisionPath;
}

/** Answers a POST of an authenticated viewer. */
export async function answerPost(
  path: string,
  decisions: RequestDecisions | undefined,
  approvers: Approvers,
  request: IncomingMessage,
  response: ServerResponse,
  port: number,
): Promise<void> {
  const end = (status: number, value?: unknown): void => {
    if (value === undefined) return void response.writeHead(status).end();
    response.writeHead(status, { "Content-Type": "application/json; charset=utf-8" }).end(JSON.stringify(value));
  };
  if (!isOwnPage(request)) return end(403);
  if (request.headers["content-type"] !== "application/json") return end(415);
  if (decisions === undefined) return end(404);
  const body = await readJson(request);
  if (path === signInPath) {
    const given = signIn.safeParse(body);
    if (!given.success) return end(400);
    const signedIn = approvers.signIn(given.data.token, port);
    if (typeof signedIn === "string") return end(signedIn === "too many" ? 429 : 401, { message: signedIn });
    response.setHeader("Set-Cookie", signedIn.cookie);
    return end(204);
  }
  const who = approvers.nameOf(request, port);
  if (who === null) return end(403, { message: "a token that may approve is needed" });
  const given = decision.safeParse(body);
  if (!given.success) return end(400);
  const { request: id, what, reason } = given.data;
  try {
    await (what === "approve" ? decisions.approve(id, who) : decisions.deny(id, who, reason));
    end(204);
  } catch (error) {
    if (!(error instanceof TandemError)) throw error;
    end(409, { message: error.message });
  }
}

/** Browsers send the origin with every POST. */
function isOwnPage({ headers }: IncomingMessage): boolean {
  const site = headers["sec-fetch-site"];
  return headers.origin === `http://${headers.host ?? ""}` && (site === undefined || site === "same-origin");
}

/** @returns undefined for what is too long, or not JSON */
async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}
