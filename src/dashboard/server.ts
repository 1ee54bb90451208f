/**
 * The dashboard's server: the page, the records of jobs as server-sent events, the list of past jobs, the report.
 *
 * It only reads job folders, and checks access.ts first. Beside GET it answers the POSTs of request-routes.ts. It runs
 * during jobs and must not slow them:
 * no work without viewers.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { requestTimeouts, limitPendingHttp } from "../base/listening/pending-http.ts";
import { programVersion } from "../base/program-version.ts";
import { TandemError } from "../base/error.ts";
import { jobSyntax } from "../base/job-name.ts";
import { readCertificates } from "../record/certificate-file.ts";
import { readQueue } from "../record/queue-file.ts";
import { RecordReader, readRecord } from "../record/stored-record.ts";
import { Access } from "./access.ts";
import { Approvers } from "./approvers.ts";
import { feedRecord } from "./record-feed.ts";
import { JobList } from "./job-list.ts";
import { answerPost, isPosted, type RequestDecisions, shownRequests } from "./request-routes.ts";
import { readWebFiles, type WebFile } from "./web-files.ts";

/** A party whose jobs are shown: one for a company, several where one machine simulates all parties. */
export interface Viewer {
  readonly name: string;
  /** Its output directory, with a folder per job. */
  readonly directory: string;
  /** The running job, if its name is known. */
  readonly job: string | null;
  /** Requests of a passive party; left out: none are shown. */
  readonly decisions?: RequestDecisions | undefined;
}

export interface DashboardOptions {
  readonly viewers: readonly Viewer[];
  readonly host: string;
  /** 0: a free port. */
  readonly port: number;
  /** Tokens that may decide about requests, by name; left out: there are none. */
  readonly approvers?: ReadonlyMap<string, string> | undefined;
}

export interface Dashboard {
  /** Contains the token. */
  readonly url: string;
  /** Sends pending data, then closes all connections. */
  close(): Promise<void>;
}

/** No page may be framed or submit forms. */
const closedPolicy = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** The page loads only its own files, and no inline scripts. */
const pagePolicy = [
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'",
  closedPolicy,
].join("; ");
/** The report is one file without scripts. */
const reportPolicy = `default-src 'none'; style-src 'unsafe-inline'; img-src data:; ${closedPolicy}`;
/** Authenticated connections. */
const connectionsMax = 64;
const requestMsMax = 10_000;
const closingMsMax = 2000;

/** @throws TandemError FILE_UNREADABLE if the page was not built, USAGE if the address cannot be listened on */
export async function startDashboard({ viewers, host, port, approvers }: DashboardOptions): Promise<Dashboard> {
  const files = await readWebFiles();
  const access = new Access(host);
  const ending = new AbortController();
  const routes = new Routes(files, viewers, ending.signal, new Approvers(approvers ?? new Map()));
  const server = createServer(
    { maxHeaderSize: 8192, ...requestTimeouts(requestMsMax) },
    (request, response) => void answer(request, response, access, routes, () => pending.admit(request)),
  );
  const pending = limitPendingHttp(server, connectionsMax);
  access.port = await listen(server, host, port);
  return {
    url: access.url,
    async close() {
      ending.abort();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeIdleConnections();
      const timer = setTimeout(() => server.closeAllConnections(), closingMsMax);
      await closed;
      clearTimeout(timer);
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        new TandemError("USAGE", `the dashboard cannot listen on ${host}, port ${port} (${cause.code ?? "error"})`, {
          cause,
        }),
      ),
    );
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  access: Access,
  routes: Routes,
  admit: () => void,
): Promise<void> {
  for (const [name, value] of Object.entries(commonHeaders)) response.setHeader(name, value);
  try {
    const url = new URL(request.url ?? "/", "http://dashboard");
    const verdict = access.judge(request, url);
    if (verdict === "wrong-host" || verdict === "unauthenticated") {
      response.setHeader("Connection", "close");
      return bare(response, verdict === "unauthenticated" ? 401 : 421);
    }
    admit();
    const isPost = request.method === "POST" && verdict === "authenticated" && isPosted(url.pathname);
    if (isPost) return await routes.post(url, request, response);
    if (request.method !== "GET") return bare(response, 405);
    if (verdict === "valid-token" || url.searchParams.has("token")) return redirectWithCookie(response, access);
    const from = request.headers["sec-fetch-site"];
    if (from !== undefined && from !== "same-origin" && from !== "none") return bare(response, 403);
    await routes.serve(url, request, response);
  } catch {
    if (!response.headersSent) bare(response, 500);
    else response.destroy();
  }
}

const commonHeaders = {
  "Content-Security-Policy": pagePolicy,
  "Cache-Control": "no-store",
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
};

function bare(response: ServerResponse, status: number): void {
  response.writeHead(status).end();
}

/**
 * A page that redirects to the dashboard. A visit from another site then also ends with a same-site request, which
 * sends the Strict cookie.
 */
function redirectWithCookie(response: ServerResponse, access: Access): void {
  response.setHeader("Set-Cookie", access.cookie);
  response
    .writeHead(200, { "Content-Type": "text/html; charset=utf-8" })
    .end(
      '<!doctype html><html lang="en"><title>Tandem</title><link rel="icon" href="data:,">' +
        '<meta http-equiv="refresh" content="0;url=/">',
    );
}

class Routes {
  readonly #files: ReadonlyMap<string, WebFile>;
  readonly #viewers: readonly Viewer[];
  readonly #ending: AbortSignal;
  readonly #list = new JobList();
  readonly #approvers: Approvers;

  constructor(
    files: ReadonlyMap<string, WebFile>,
    viewers: readonly Viewer[],
    ending: AbortSignal,
    approvers: Approvers,
  ) {
    this.#approvers = approvers;
    this.#files = files;
    this.#viewers = viewers;
    this.#ending = ending;
  }

  async serve(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = url;
    if (pathname === "/api/viewers")
      return json(response, {
        version: programVersion(),
        viewers: this.#viewers.map(({ name, job }) => ({ name, job })),
      });
    if (!pathname.startsWith("/api/")) return this.#file(pathname === "/" ? "/index.html" : pathname, response);
    const viewer = this.#viewers.find(({ name }) => name === url.searchParams.get("viewer"));
    if (viewer === undefined) return bare(response, 404);
    if (pathname === "/api/jobs") return json(response, await this.#list.of(viewer.directory));
    if (pathname === "/api/certificates") return json(response, await readCertificates(viewer.directory));
    if (pathname === "/api/queue") return json(response, await readQueue(viewer.directory));
    if (pathname === "/api/requests")
      return json(
        response,
        viewer.decisions && (await shownRequests(viewer.decisions, this.#approvers, request, portOf(request))),
      );
    const job = url.searchParams.get("job") ?? "";
    if (!jobSyntax.test(job)) return bare(response, 404); // it becomes part of a path
    const folder = join(viewer.directory, job);
    switch (pathname) {
      case "/api/stream":
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        return feedRecord(
          folder,
          response,
          String(request.headers["last-event-id"] ?? url.searchParams.get("from") ?? ""),
          this.#ending,
        );
      case "/api/job":
        return json(response, await new RecordReader(folder).next());
      case "/api/report":
        return this.#report(folder, response);
      default:
        return bare(response, 404);
    }
  }

  post(url: URL, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const decisions = this.#viewers.find(({ name }) => name === url.searchParams.get("viewer"))?.decisions;
    return answerPost(url.pathname, decisions, this.#approvers, request, response, portOf(request));
  }

  #file(path: string, response: ServerResponse): void {
    const file = this.#files.get(path);
    if (file === undefined) return bare(response, 404);
    response.writeHead(200, { "Content-Type": file.type, "Content-Length": file.bytes.length }).end(file.bytes);
  }

  async #report(folder: string, response: ServerResponse): Promise<void> {
    const views = await readRecord(folder).catch(() => null);
    if (views === null) return bare(response, 404);
    const { jobReport } = await import("../../web/report/reports.js");
    response.setHeader("Content-Security-Policy", reportPolicy);
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(jobReport(views, new Date()));
  }
}

/** Of this server: cookies are shared by all ports of a host. */
function portOf({ socket }: IncomingMessage): number {
  return socket.localPort ?? 0;
}

function json(response: ServerResponse, value: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json; charset=utf-8" }).end(JSON.stringify(value ?? null));
}
