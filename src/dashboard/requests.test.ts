/** Requests on the page: who may see them, who may decide, and that no other page, token or text can. */
import { mkdtempSync, rmSync } from "node:fs";
import { request as send } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { TandemError } from "../base/error.ts";
import { Approvers } from "./approvers.ts";
import { type Dashboard, startDashboard } from "./server.ts";

const root = mkdtempSync(join(tmpdir(), "tandem-requests-"));
const aliceToken = "a token of alice, with spaces none".replaceAll(" ", "-");
const decided: string[] = [];
let dashboard: Dashboard;
let origin = "";
let reader = "";

beforeAll(async () => {
  const decisions = {
    list: async () => [{ id: "0123abcd", standing: "waiting" }],
    actions: async () => [],
    approve: async (id: string, who: string) => {
      if (id === "ffffffff") throw new TandemError("USAGE", "shop has no request ffffffff");
      decided.push(`${who} approves ${id}`);
    },
    deny: async (id: string, who: string, reason: string) => void decided.push(`${who} denies ${id}: ${reason}`),
  };
  dashboard = await startDashboard({
    viewers: [
      { name: "shop", directory: root, job: null, decisions },
      { name: "other", directory: root, job: null },
    ],
    host: "127.0.0.1",
    port: 0,
    approvers: new Map([["alice", aliceToken]]),
  });
  ({ origin } = new URL(dashboard.url));
  reader = cookieOf(await post("", {}, { method: "GET", url: dashboard.url }));
});
beforeEach(() => void decided.splice(0));
afterAll(async () => {
  await dashboard.close();
  rmSync(root, { recursive: true });
});

interface Sent {
  readonly method?: string;
  readonly url?: string;
  readonly viewer?: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly text?: string;
}

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly cookies: readonly string[];
}

function post(path: string, body: object, sent: Sent = {}): Promise<Answer> {
  const {
    method = "POST",
    viewer = "shop",
    url = `${origin}${path}?viewer=${viewer}`,
    text = JSON.stringify(body),
  } = sent;
  const given = { origin, "content-type": "application/json", cookie: reader, ...sent.headers };
  const headers = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)) as Record<
    string,
    string
  >;
  return new Promise((resolve, reject) => {
    const sending = send(url, { method, headers }, (response) => {
      let read = "";
      response.setEncoding("utf8").on("data", (piece: string) => (read += piece));
      response.on("end", () => {
        const { statusCode: status = 0, headers: answered } = response;
        resolve({ status, body: read, cookies: answered["set-cookie"] ?? [] });
      });
    });
    sending.on("error", reject).end(method === "GET" ? undefined : text);
  });
}

const cookieOf = ({ cookies }: Answer): string => cookies[0].split(";", 1)[0];
const approval = { request: "0123abcd", what: "approve", reason: "" };

async function aliceCookie(): Promise<string> {
  const { status, cookies } = await post("/api/approver", { token: aliceToken });
  expect(status).toBe(204);
  expect(cookies[0]).toMatch(/^tandem-approver-\d+=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/);
  return `${reader}; ${cookies[0].split(";", 1)[0]}`;
}

test("a reader sees requests, and can decide nothing", async () => {
  const { status, body } = await post("/api/requests", {}, { method: "GET" });
  expect(status).toBe(200);
  expect(JSON.parse(body)).toMatchObject({ approver: null, canSignIn: true, requests: [{ id: "0123abcd" }] });
  expect((await post("/api/decision", approval)).status).toBe(403);
  const forged = reader.replace(/^tandem-/, "tandem-approver-");
  expect((await post("/api/decision", approval, { headers: { cookie: `${reader}; ${forged}` } })).status).toBe(403);
  const token = new URL(dashboard.url).searchParams.get("token") ?? "";
  expect((await post("/api/approver", { token })).status).toBe(401);
  expect(decided).toEqual([]);
});

test("an approver decides under the token's name", async () => {
  const headers = { cookie: await aliceCookie() };
  expect((await post("/api/decision", approval, { headers })).status).toBe(204);
  const denial = { request: "0123abcd", what: "deny", reason: "<b>no</b>" };
  expect((await post("/api/decision", denial, { headers })).status).toBe(204);
  expect(decided).toEqual(["alice approves 0123abcd", "alice denies 0123abcd: <b>no</b>"]);
  const unknown = await post("/api/decision", { ...approval, request: "ffffffff" }, { headers });
  expect([unknown.status, JSON.parse(unknown.body)]).toEqual([409, { message: "shop has no request ffffffff" }]);
  const { body } = await post("/api/requests", {}, { method: "GET", headers });
  expect(JSON.parse(body)).toMatchObject({ approver: "alice" });
});

test("the cookie of an approver alone opens nothing: the page's own is needed too", async () => {
  const [, own] = (await aliceCookie()).split("; ");
  expect((await post("/api/decision", approval, { headers: { cookie: own } })).status).toBe(401);
  expect((await post("/api/decision", approval, { headers: { cookie: undefined } })).status).toBe(401);
  expect(decided).toEqual([]);
});

test.each([
  ["no origin", { origin: undefined }, 403],
  ["the origin of another site", { origin: "https://evil.example" }, 403],
  ["an opaque origin", { origin: "null" }, 403],
  ["another port of this machine", { origin: "http://127.0.0.1:1" }, 403],
  ["a fetch from another site", { "sec-fetch-site": "cross-site" }, 403],
  ["a fetch from another port", { "sec-fetch-site": "same-site" }, 403],
  ["a form", { "content-type": "application/x-www-form-urlencoded" }, 415],
  ["a form's text", { "content-type": "text/plain" }, 415],
])("with %s an approver's request is refused", async (_what, changes, status) => {
  const headers = { cookie: await aliceCookie(), ...changes };
  expect((await post("/api/decision", approval, { headers })).status).toBe(status);
  expect(decided).toEqual([]);
});

test.each([
  ["another word", JSON.stringify({ ...approval, what: "delete" }), 400],
  ["a path in place of a name", JSON.stringify({ ...approval, request: "../../x" }), 400],
  ["no JSON", "{", 400],
  ["10 MB", JSON.stringify({ ...approval, reason: "x".repeat(10_000_000) }), 400],
])("%s is refused", async (_what, text, status) => {
  const headers = { cookie: await aliceCookie() };
  const answer = await post("/api/decision", {}, { headers, text }).catch((error: NodeJS.ErrnoException) => error.code);
  // The rest of a long body is not read: its sender may see a closed connection first.
  expect(typeof answer === "object" ? answer.status : "closed").toBe(typeof answer === "object" ? status : "closed");
  expect(decided).toEqual([]);
});

test("a GET decides nothing, and a party without approvals has nothing to decide", async () => {
  const headers = { cookie: await aliceCookie() };
  expect((await post("/api/decision", approval, { headers, method: "GET" })).status).toBe(404);
  expect((await post("/api/decision", approval, { headers, viewer: "other" })).status).toBe(404);
  expect((await post("/api/requests", {}, { method: "GET", viewer: "other" })).body).toBe("null");
});

test("tokens cannot be guessed for long, and a sign-in expires", () => {
  let now = 0;
  const approvers = new Approvers(new Map([["alice", aliceToken]]), () => now);
  const asking = (cookie: string) => ({ headers: { cookie } }) as Parameters<Approvers["nameOf"]>[0];
  const signedIn = approvers.signIn(aliceToken, 1);
  const cookie = typeof signedIn === "string" ? "" : signedIn.cookie.split(";", 1)[0];
  expect(approvers.nameOf(asking(cookie), 1)).toBe("alice");
  expect(approvers.nameOf(asking(cookie), 2), "of another server").toBeNull();
  for (let i = 0; i < 10; i++) expect(approvers.signIn(`guess ${i}`, 1)).toBe("wrong token");
  expect(approvers.signIn(aliceToken, 1), "not even the right one").toBe("too many");
  now += 61_000;
  expect(approvers.signIn(aliceToken, 1)).toMatchObject({ cookie: expect.any(String) as string });
  now += 9 * 3_600_000;
  expect(approvers.nameOf(asking(cookie), 1)).toBeNull();
});
