/**
 * A small HTTP server: fixed paths, JSON in and out, every limit set, no framework. A browser on the same machine is
 * kept from using it: bodies must be declared as JSON, which other sites' pages may not send, and without a token the
 * Host must be this machine, so that no foreign name that resolves to it works.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { TandemError } from "../../base/error.ts";
import { requestTimeouts, limitPendingHttp } from "../../base/listening/pending-http.ts";
import { isLoopback } from "../../base/listening/loopback.ts";
import type { Problem } from "./messages.ts";
import { HttpProblem, toHttpProblem } from "./http-problem.ts";

export interface Answer {
  readonly status: number;
  /** Text goes out as it is, anything else as JSON. */
  readonly body: unknown;
}

export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Whether it may be called without the token. */
  readonly open?: boolean;
  handle(body: unknown): Promise<Answer> | Answer;
}

export interface HttpOptions {
  readonly host: string;
  readonly port: number;
  readonly token: string | null;
  readonly bodyBytesMax: number;
  /** How long requests that are under way may take when the server stops. */
  readonly stopGraceMs: number;
  readonly onAnswer: (answer: { readonly path: string; readonly status: number; readonly ms: number }) => void;
  readonly onBug: (error: unknown) => void;
}

export interface RunningHttpServer {
  readonly port: number;
  /** Takes no more requests, and settles when those under way are answered. */
  close(): Promise<void>;
}

const requestTimeoutMs = 30_000;
const connectionsMax = 1024;
/**
 * For clients that have shown the token. Longer than that of proxies, so that no request meets a connection that is
 * being closed.
 */
const keepAliveMs = 75_000;
const utf8 = new TextDecoder("utf-8", { fatal: true });
const textType = "text/plain; version=0.0.4; charset=utf-8";

/** @throws TandemError USAGE if it cannot listen there */
export async function listenHttp(routes: readonly Route[], options: HttpOptions): Promise<RunningHttpServer> {
  let stopping = false;
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const started = performance.now();
    const path = routes.find((route) => route.path === pathOf(request))?.path ?? "other";
    let isKnown = false;
    const answer = await answerTo(request, routes, options, () => {
      isKnown = true;
      pending.admit(request);
    });
    send(response, answer, stopping || !request.complete || !isKnown);
    options.onAnswer({ path, status: answer.status, ms: performance.now() - started });
  };
  const server = createServer(
    { ...requestTimeouts(requestTimeoutMs), keepAliveTimeout: keepAliveMs },
    (request, response) => void respond(request, response),
  );
  const pending = limitPendingHttp(server, connectionsMax);
  await listening(server, options);
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        stopping = true;
        const grace = setTimeout(() => server.closeAllConnections(), options.stopGraceMs);
        server.close(() => {
          clearTimeout(grace);
          resolve();
        });
        server.closeIdleConnections();
      }),
  };
}

function listening(server: Server, { host, port }: HttpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) =>
      reject(new TandemError("USAGE", `cannot listen on ${host}:${port}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, () => resolve());
  });
}

/** Never rejects. @param admit called once the request has shown the token, or all of itself where there is none */
async function answerTo(
  request: IncomingMessage,
  routes: readonly Route[],
  options: HttpOptions,
  admit: () => void,
): Promise<Answer> {
  try {
    const path = pathOf(request);
    const here = routes.filter((route) => route.path === path);
    if (here.length === 0)
      throw new HttpProblem(
        404,
        "USAGE",
        `there is nothing at this path; there are ${[...new Set(routes.map((route) => route.path))].join(", ")}`,
      );
    const route = here.find(({ method }) => method === request.method);
    if (route === undefined)
      throw new HttpProblem(405, "USAGE", `this path takes ${here.map(({ method }) => method).join(" and ")} only`);
    if (route.open !== true) checkToken(request, options.token);
    if (options.token === null) checkHost(request, options.host);
    else if (route.open !== true) admit();
    const body = route.method === "POST" ? await jsonBody(request, options.bodyBytesMax) : undefined;
    if (options.token === null) admit();
    return await route.handle(body);
  } catch (error) {
    const { status, code, message } = toHttpProblem(error);
    if (status === 500) options.onBug(error);
    return { status, body: { error: { code, message } satisfies Problem } };
  }
}

function pathOf(request: IncomingMessage): string {
  return (request.url ?? "").split("?", 1)[0];
}

/** Compared as digests: neither the length nor the first wrong character shows in the time it takes. */
function checkToken(request: IncomingMessage, token: string | null): void {
  if (token === null) return;
  const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "")?.[1] ?? "";
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  if (!timingSafeEqual(digest(given), digest(token)))
    throw new HttpProblem(
      401,
      "UNAUTHORISED",
      "the request needs the header 'Authorization: Bearer' with this server's token",
    );
}

function checkHost(request: IncomingMessage, host: string): void {
  const name = (request.headers.host ?? "").replace(/:\d+$/, "").replace(/^\[(.*)\]$/, "$1");
  if (!isLoopback(name) && isLoopback(host))
    throw new HttpProblem(
      403,
      "USAGE",
      "this server is for its own machine, under the name localhost or its loopback address",
    );
}

async function jsonBody(request: IncomingMessage, bytesMax: number): Promise<unknown> {
  const type = (request.headers["content-type"] ?? "").split(";", 1)[0].trim().toLowerCase();
  if (type !== "application/json")
    throw new HttpProblem(415, "USAGE", "the request must be JSON, with 'Content-Type: application/json'");
  const bytes = await bodyBytes(request, bytesMax);
  try {
    return JSON.parse(utf8.decode(bytes));
  } catch {
    throw new HttpProblem(400, "USAGE", "the request is not JSON text");
  }
}

/** Not with `for await`, which would close the connection before a refusal is sent. */
function bodyBytes(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const tooLarge = (): void => reject(new HttpProblem(413, "USAGE", `the request has more than ${bytesMax} bytes`));
    if (Number(request.headers["content-length"] ?? 0) > bytesMax) {
      tooLarge();
      return;
    }
    const chunks: Buffer[] = [];
    let size = 0;
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > bytesMax) {
        chunks.length = 0;
        request.pause();
        tooLarge();
      } else chunks.push(chunk);
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", () => reject(new HttpProblem(400, "USAGE", "the request broke off")));
  });
}

function send(response: ServerResponse, { status, body }: Answer, last: boolean): void {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  response.writeHead(status, {
    "content-type": typeof body === "string" ? textType : "application/json",
    "content-length": Buffer.byteLength(text),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
    ...(status === 503 ? { "retry-after": "1" } : {}),
    // An unread body would precede the next request.
    ...(last ? { connection: "close" } : {}),
  });
  response.end(text);
}
