/** Reports of waiting requests: what is sent, to whom, and that no server can delay or redirect anything. */
import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import type { PartyEvent } from "../../record/events.ts";
import { createAuthority } from "../../transport/certificates.ts";
import { Webhook } from "./webhook.ts";

const secret = "a secret of the two servers";
const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close() && server.closeAllConnections()));

type Handle = (request: IncomingMessage, response: ServerResponse, body: string) => void;

async function serving(handle: Handle) {
  const authority = await createAuthority("company", 10);
  const { certificate: cert, key } = await authority.issue("hooks", ["127.0.0.1"], 10);
  const bodies: { body: string; headers: IncomingMessage["headers"]; path: string }[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (text: string) => (body += text));
    request.on("end", () => {
      bodies.push({ body, headers: request.headers, path: request.url ?? "" });
      handle(request, response, body);
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}/hook?key=hidden`;
  return { url, authority: authority.certificate, bodies, port };
}

function opened(target: { url: string; authority?: string }, timeoutMs = 2000) {
  const events: PartyEvent[] = [];
  let tell = (): void => {};
  const reported = new Promise<void>((resolve) => (tell = resolve));
  const emit = (event: PartyEvent): void => {
    events.push(event);
    tell();
  };
  return { hook: new Webhook({ ...target, secret, party: "shop", emit, pauses: [1, 1], timeoutMs }), events, reported };
}

const terms = {
  partner: "bank",
  work: "training" as const,
  job: "spring",
  purpose: "<script>a text of the bank</script>",
  rows: 7,
  aligned: true,
  normalisations: [],
  validationFile: false,
  parameters: { seed: 1234 },
  columns: "c",
};

test("a report names the request, is signed, and holds no text and no parameter of the partner", async () => {
  const server = await serving((_request, response) => response.writeHead(204).end());
  const { hook, events } = opened(server);
  hook.notify({ id: "0123abcd", terms }, 2);
  await expect.poll(() => server.bodies.length, { timeout: 60_000 }).toBe(1);
  const [{ body, headers, path }] = server.bodies;
  expect(path).toBe("/hook?key=hidden");
  expect(JSON.parse(body)).toEqual({
    event: "request-waits",
    party: "shop",
    partner: "bank",
    job: "spring",
    work: "training",
    request: "0123abcd",
    waiting: 2,
  });
  const signed = createHmac("sha256", secret)
    .update(`${String(headers["tandem-timestamp"])}.${body}`)
    .digest("hex");
  expect(headers["tandem-signature"]).toBe(`sha256=${signed}`);
  expect(events).toEqual([]);
  hook.close();
});

test.each([
  [
    "redirects",
    (response: ServerResponse, port: number) =>
      response.writeHead(307, { Location: `https://127.0.0.1:${port}/other` }).end(),
    /the server answered 307/,
  ],
  ["fails", (response: ServerResponse) => response.writeHead(500).end("secret words"), /the server answered 500/],
  ["closes the connection", (response: ServerResponse) => response.destroy(), /cannot be reached \(ECONNRESET\)/],
])(
  "a server that %s gets three attempts at the configured address, and one line in the log",
  async (_what, act, says) => {
    const server: Awaited<ReturnType<typeof serving>> = await serving((_request, response) =>
      act(response, server.port),
    );
    const { hook, events, reported } = opened(server);
    hook.notify({ id: "0123abcd", terms }, 1);
    await reported;
    expect(server.bodies.map(({ path }) => path)).toEqual(Array(3).fill("/hook?key=hidden"));
    expect(events).toMatchObject([{ type: "notice", party: "shop", words: expect.stringMatching(says) as string }]);
    expect(JSON.stringify(events)).not.toMatch(/hidden|secret words/);
  },
);

test("a server that never answers holds up 16 reports at most, and nothing after the end", async () => {
  const server = await serving(() => {});
  const { hook, reported, events } = opened(server, 50);
  for (let i = 0; i < 40; i++) hook.notify({ id: "0123abcd", terms }, i);
  await reported;
  expect(events).toMatchObject([{ words: expect.stringMatching(/no answer within 0.05 s/) as string }]);
  hook.close();
  const seen = server.bodies.length;
  expect(seen).toBeLessThan(3 * 17);
});

test("a server without the authority's certificate receives nothing", async () => {
  const server = await serving((_request, response) => response.writeHead(204).end());
  const { hook, events, reported } = opened({ url: server.url });
  hook.notify({ id: "0123abcd", terms }, 1);
  await reported;
  expect(server.bodies).toEqual([]);
  expect(JSON.stringify(events)).toMatch(/cannot be reached \((UNABLE_TO_VERIFY|SELF_SIGNED)/);
});
