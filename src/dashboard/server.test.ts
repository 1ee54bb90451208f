/** The server without a browser, over a real socket: access and routes. */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { get, request } from "node:http";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { JsonLinesFile } from "../base/files/json-lines.ts";
import { type Dashboard, startDashboard } from "./server.ts";

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

const root = mkdtempSync(join(tmpdir(), "tandem-dashboard-"));
const folder = join(root, "jobs", "spring");
mkdirSync(folder, { recursive: true });
mkdirSync(join(root, "jobs", "autumn"));
writeFileSync(join(root, "secret.jsonl"), '{"type":"x","party":"y","at":1}\n');
const record = new JsonLinesFile(join(folder, "events.jsonl"), 1e6);
const event = (at: number): object => ({ type: "stopping", party: "bank", at });
record.append({
  type: "job",
  party: "bank",
  role: "active",
  job: "spring",
  peers: ["<script>"],
  treeCount: 1,
  depthMax: 1,
  parameters: {},
  versions: { tandem: "1", protocol: 2, node: "20" },
  at: 5,
});

let dashboard: Dashboard;
let origin = "";
let cookie = "";
beforeAll(async () => {
  dashboard = await startDashboard({
    viewers: [{ name: "bank", directory: join(root, "jobs"), job: "spring" }],
    host: "127.0.0.1",
    port: 0,
  });
  ({ origin } = new URL(dashboard.url));
  const [given] = (await ask(dashboard.url)).headers["set-cookie"] ?? [];
  cookie = given.split(";", 1)[0];
});
afterAll(async () => {
  await dashboard.close();
  rmSync(root, { recursive: true, force: true });
});

function ask(url: string, headers: Readonly<Record<string, string>> = {}, method = "GET"): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, method }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => (body += text));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body }));
    });
    sent.on("error", reject).end();
  });
}

const known = (path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  ask(`${origin}${path}`, { cookie, ...headers });

describe("access", () => {
  test("the token in the address becomes a cookie that scripts and other sites do not get", async () => {
    expect(dashboard.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?token=[\w-]{43}$/);
    const { status, headers, body } = await ask(dashboard.url);
    expect(status).toBe(200);
    expect(headers["set-cookie"]).toEqual([
      expect.stringMatching(/^tandem-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/),
    ]);
    expect(body).toContain('content="0;url=/"');
    expect(body).not.toContain(new URL(dashboard.url).searchParams.get("token"));
    expect(cookie).not.toContain(new URL(dashboard.url).searchParams.get("token"));
  });

  test.each([
    "/",
    "/index.html",
    "/api/viewers",
    "/api/stream?viewer=bank&job=spring",
    "/api/job?viewer=bank&job=spring",
    "/api/report?viewer=bank&job=spring",
    "/?token=",
    `/?token=${"x".repeat(43)}`,
    "/nowhere",
  ])("without it %s is a bare 401", async (path) => {
    const { status, body } = await ask(`${origin}${path}`);
    expect([status, body]).toEqual([401, ""]);
  });

  test("the token is valid for the first page only, and the cookie of another port is not valid", async () => {
    const token = new URL(dashboard.url).search;
    expect((await ask(`${origin}/api/viewers${token}`)).status).toBe(401);
    expect((await ask(`${origin}/api/viewers`, { cookie: cookie.replace(/^tandem-\d+/, "tandem-1") })).status).toBe(
      401,
    );
    expect((await ask(`${origin}/api/viewers`, { cookie: `${cookie}x` })).status).toBe(401);
    expect((await known("/api/viewers")).status).toBe(200);
  });

  test.each(["evil.example", "evil.example:80", "192.168.1.7", "localhost:1", hostname()])(
    "a name that is not ours is refused, cookie or not: %s",
    async (host) => {
      const { port } = new URL(origin);
      expect((await known("/", { host: host.includes(":") ? host : `${host}:${port}` })).status).toBe(421);
    },
  );

  test("localhost and its addresses are accepted", async () => {
    const { port } = new URL(origin);
    for (const host of [
      `localhost:${port}`,
      `LOCALHOST:${port}`,
      `[::1]:${port}`,
      `127.0.0.1:${port}`,
      `127.9.9.9:${port}`,
    ])
      expect((await known("/api/viewers", { host })).status, host).toBe(200);
  });

  test("requests from other sites and other methods are refused", async () => {
    for (const site of ["cross-site", "same-site"])
      expect((await known("/api/viewers", { "sec-fetch-site": site })).status).toBe(403);
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"])
      expect((await ask(`${origin}/api/viewers`, { cookie }, method)).status).toBe(405);
  });

  test("every answer forbids foreign scripts, framing, type sniffing and caching", async () => {
    for (const path of ["/", "/api/viewers", "/nowhere"]) {
      const { headers } = await known(path);
      expect(headers["content-security-policy"]).toMatch(
        /^default-src 'none'; script-src 'self';.*frame-ancestors 'none'/,
      );
      expect(headers["content-security-policy"]).not.toContain("unsafe");
      expect(headers["access-control-allow-origin"]).toBeUndefined();
      expect(headers).toMatchObject({
        "x-content-type-options": "nosniff",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
      });
    }
  });
});

describe("routes", () => {
  test("the page and its files", async () => {
    const { body } = await known("/");
    expect(body).toContain('<div id="app">');
    const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(body) ?? [];
    expect((await known(script)).headers["content-type"]).toBe("text/javascript; charset=utf-8");
  });

  test.each([
    "/api/job?viewer=bank&job=..",
    "/api/job?viewer=bank&job=../../secret",
    "/api/job?viewer=bank&job=%2e%2e%2f",
    "/api/job?viewer=unknown&job=spring",
    "/assets/../../package.json",
    "/..%2fpackage.json",
    "/api/else?viewer=bank&job=spring",
  ])("nothing outside: %s", async (path) => {
    expect((await known(path)).status).toBe(404);
  });

  test("jobs, as a list and one by one", async () => {
    expect(JSON.parse((await known("/api/jobs?viewer=bank")).body)).toMatchObject([
      { job: "spring", state: "interrupted", treeCount: 1 },
    ]);
    expect(JSON.parse((await known("/api/job?viewer=bank&job=spring")).body)).toMatchObject({
      events: [{ type: "job" }],
      own: [],
    });
  });

  test("the list follows a record that grows", async () => {
    const file = new JsonLinesFile(join(root, "jobs", "autumn", "events.jsonl"), 1e6);
    const say = (at: number, tree: number): void =>
      file.append({ type: "tree", party: "bank", tree, treeCount: 3, metrics: { auc: 0.5 + tree / 10 }, at });
    const seen = async (): Promise<unknown> =>
      (JSON.parse((await known("/api/jobs?viewer=bank")).body) as { job: string }[]).find(
        ({ job }) => job === "autumn",
      );
    say(1000, 0);
    expect(await seen()).toMatchObject({
      treesDone: 1,
      treeCount: 3,
      seconds: 0,
      metrics: { auc: 0.5 },
      tested: false,
    });
    await new Promise((resolve) => setTimeout(resolve, 20)); // the file's time has to move
    say(3000, 1);
    expect(await seen()).toMatchObject({ treesDone: 2, seconds: 2, metrics: { auc: 0.6 } });
    file.close();
    rmSync(join(root, "jobs", "autumn"), { recursive: true });
    expect(await seen()).toBeUndefined();
  });

  test("a report: names are escaped, its own policy allows no script", async () => {
    const { body, headers } = await known("/api/report?viewer=bank&job=spring");
    expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; style-src 'unsafe-inline'/);
    expect(body).toContain("&lt;script>");
    expect(body).not.toMatch(/<script/i);
  });

  test("a stream sends the record so far, then additions, and after a lost or hidden page only the rest", async () => {
    interface Stream {
      readonly lines: string[];
      readonly has: (count: number) => Promise<void>;
      readonly end: () => void;
    }
    const stream = (query: string, headers: Readonly<Record<string, string>> = {}): Promise<Stream> =>
      new Promise((resolve) => {
        const lines: string[] = [];
        const sent = get(
          `${origin}/api/stream?viewer=bank&job=spring${query}`,
          { headers: { cookie, ...headers } },
          (response) => {
            response
              .setEncoding("utf8")
              .on("data", (text: string) =>
                lines.push(...text.split("\n").filter((line) => /^(id|data): /.test(line))),
              );
            const has = async (count: number): Promise<void> => {
              while (lines.length < count) await new Promise((next) => setTimeout(next, 20));
            };
            resolve({ lines, has, end: () => sent.destroy() });
          },
        );
      });
    const own = new JsonLinesFile(join(folder, "own.jsonl"), 1e6);
    const data = { kind: "data", sha256: "12" };
    const sizes = (): string =>
      ["events.jsonl", "own.jsonl"].map((name) => statSync(join(folder, name)).size).join(".");
    const first = await stream("");
    await first.has(2);
    expect(first.lines[0]).toBe(`id: ${sizes()}`);
    expect(first.lines[1]).toMatch(/^data: e\{"type":"job"/);
    record.append(event(6));
    const between = sizes();
    own.append(data);
    record.append(event(7));
    await first.has(6);
    expect(first.lines.slice(2)).toEqual([
      `id: ${sizes()}`,
      `data: e${JSON.stringify(event(6))}`,
      `data: e${JSON.stringify(event(7))}`,
      `data: o${JSON.stringify(data)}`,
    ]);
    first.end();
    record.append(event(8));
    const rest = [
      `id: ${sizes()}`,
      `data: e${JSON.stringify(event(7))}`,
      `data: e${JSON.stringify(event(8))}`,
      `data: o${JSON.stringify(data)}`,
    ];
    for (const second of [
      await stream(`&from=${between}`),
      await stream("", { "last-event-id": between }),
      await stream("&from=0.0", { "last-event-id": between }),
    ]) {
      await second.has(rest.length);
      expect(second.lines).toEqual(rest);
      second.end();
    }
    own.close();
  });
});
