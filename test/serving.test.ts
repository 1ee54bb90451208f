/**
 * `tandem serve` in front of real parties over TLS: scores to the last bit over HTTP, batches, restarts, limits, the
 * OpenAPI document.
 */
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { resolveParameters, servingParameters } from "../src/base/parameters/parameters.ts";
import type { PartyEvent } from "../src/record/events.ts";
import { type ServeOptions, startServer } from "../src/scoring/http/run-serve.ts";
import { tandemHere } from "./world/command-here.ts";
import { startTandem } from "./world/tandem-process.ts";
import { expectError } from "./support/expect-error.ts";
import { people, threeClasses, type TrainedWorld, TrainedWorlds, trainingPredictions } from "./support/test-worlds.ts";

const worlds = new TrainedWorlds();

interface Served {
  readonly url: string;
  readonly events: PartyEvent[];
  close(): Promise<void>;
}

async function serve(
  world: Pick<TrainedWorld, "config">,
  options: Partial<Omit<ServeOptions, "parameters">> & { readonly parameters?: Record<string, unknown> } = {},
): Promise<Served> {
  const events: PartyEvent[] = [];
  const all = {
    model: "spring",
    host: "127.0.0.1",
    port: 0,
    token: null,
    insecureWithoutToken: false,
    unknownAsMissing: false,
    version: "0",
    ...options,
    parameters: resolveParameters(servingParameters, options.parameters ?? {}),
  };
  const server = await startServer(world.config, all, (event) => events.push(event));
  onTestFinished(() => server.close());
  return { url: `http://127.0.0.1:${server.port}`, events, close: () => server.close() };
}

type Prediction = {
  readonly id: string;
  readonly prediction?: number | readonly number[];
  readonly error?: { readonly code: string; readonly message: string };
};

async function post(
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<{
  status: number;
  body: { model?: string; predictions: Prediction[]; error?: { code: string; message: string } };
}> {
  const response = await fetch(`${url}/predict`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
  return { status: response.status, body: (await response.json()) as never };
}

/** The bank's rows as a caller would send them. */
function rowsOf(
  { bank }: TrainedWorld,
  ids: readonly string[],
): { id: string; features: Record<string, number | null> }[] {
  const lines = readFileSync(join(bank.folder, "data.csv"), "utf8")
    .trim()
    .split("\n")
    .map((line) => line.split(","));
  const byId = new Map(lines.map(([id, a, b]) => [id, [a, b].map((cell) => (cell === "" ? null : Number(cell)))]));
  return ids.map((id) => ({ id, features: { bank_0: byId.get(id)?.[0] ?? null, bank_1: byId.get(id)?.[1] ?? null } }));
}

async function metric(url: string, line: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(
    text
      .split("\n")
      .find((candidate) => candidate.startsWith(`${line} `))
      ?.slice(line.length) ?? Number.NaN,
  );
}

/** A proxy that can be switched to drop all bytes of its open connections; new connections work. */
async function swallowingProxy(target: number): Promise<{ port: number; swallow(): void; connections(): number }> {
  const pairs: [Socket, Socket][] = [];
  const server = createServer((inner) => {
    const outer = connect(target, "127.0.0.1");
    pairs.push([inner, outer]);
    for (const socket of [inner, outer]) socket.on("error", () => {});
    inner.pipe(outer);
    outer.pipe(inner);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  onTestFinished(() => {
    for (const socket of pairs.flat()) socket.destroy();
    server.close();
  });
  const swallow = (): void =>
    pairs.forEach(([inner, outer]) => {
      inner.unpipe().resume();
      outer.unpipe().resume();
    });
  return { port: (server.address() as AddressInfo).port, swallow, connections: () => pairs.length };
}

const scoresIn = (predictions: readonly Prediction[]): Map<string, string> =>
  new Map(predictions.map(({ id, prediction }) => [id, String(prediction)]));

describe("scores", () => {
  test.each([1, 2])("with %i passive parties equal the training job's, by rows and by ids", async (shops) => {
    const world = await worlds.train(shops);
    const trained = trainingPredictions(world);
    const { url } = await serve(world);
    const ids = [...trained.keys()];
    for (const body of [{ ids }, { rows: rowsOf(world, ids) }]) {
      const answer = await post(url, body);
      expect(answer.status).toBe(200);
      expect(answer.body.model).toMatch(/^[0-9a-f]{64}$/);
      expect(answer.body.predictions.map(({ id }) => id)).toEqual(ids);
      expect(scoresIn(answer.body.predictions)).toEqual(trained);
    }
    expect(await metric(url, 'tandem_batches_total{model="spring",party="shop0",result="answered"}')).toBe(2);
    expect(await metric(url, 'tandem_rows_total{model="spring",outcome="scored"}')).toBe(2 * ids.length);
  });

  test.each(["one_output_per_tree", "multi_output_tree"])(
    "of three classes (%s): a list per instance, equal to the training job's, also in batches",
    async (strategy) => {
      const world = await worlds.train(1, threeClasses(strategy));
      const trained = trainingPredictions(world);
      const { url } = await serve(world);
      const ids = [...trained.keys()];
      for (const body of [{ ids }, { rows: rowsOf(world, ids) }]) {
        const answer = await post(url, body);
        expect(answer.status).toBe(200);
        expect(scoresIn(answer.body.predictions)).toEqual(trained);
      }
      const apart = await Promise.all(ids.map((id) => post(url, { ids: [id] })));
      expect(new Map(apart.flatMap(({ body }) => [...scoresIn(body.predictions)]))).toEqual(trained);
      for (const { prediction } of apart[0].body.predictions) expect(prediction).toHaveLength(3);
    },
  );

  test("concurrent requests share batches, and each gets its own scores", async () => {
    const world = await worlds.restarted(2);
    const trained = trainingPredictions(world);
    const { url } = await serve(world, { parameters: { window_ms: 300 } });
    const ids = [...trained.keys()];
    const answers = await Promise.all(ids.map((id) => post(url, { ids: [id] })));
    expect(new Map(answers.flatMap(({ body }) => [...scoresIn(body.predictions)]))).toEqual(trained);
    const batches = await metric(url, 'tandem_batch_ids_count{model="spring"}');
    expect(batches).toBeLessThan(ids.length / 2);
    expect(await metric(url, 'tandem_batch_ids_sum{model="spring"}')).toBe(ids.length);
    for (const party of ["shop0", "shop1"])
      expect(await metric(url, `tandem_batches_total{model="spring",party="${party}",result="answered"}`)).toBe(
        batches,
      );
    expect(await metric(url, 'tandem_http_requests_total{path="/predict",status="200"}')).toBe(ids.length);
  });

  test("an unknown id gets an error of its own, or is scored with missing values by option", async () => {
    const world = await worlds.restarted(2);
    const trained = trainingPredictions(world);
    const [known] = trained.keys();
    const [bankOnly, shopOnly, bankAndFirst] = [people[10].id, people[205].id, people[22].id];
    const strict = await post((await serve(world)).url, { ids: [bankOnly, known, shopOnly, bankAndFirst, "  "] });
    expect(strict.body.predictions).toEqual([
      { id: bankOnly, error: { code: "ID_UNKNOWN", message: "unknown to shop0 and shop1" } },
      { id: known, prediction: Number(trained.get(known)) },
      { id: shopOnly, error: { code: "ID_UNKNOWN", message: "unknown to bank" } },
      { id: bankAndFirst, error: { code: "ID_UNKNOWN", message: "unknown to shop1" } },
      { id: "  ", error: { code: "ID_UNKNOWN", message: "the id is empty after normalisation" } },
    ]);
    const lenient = await post((await serve(world, { unknownAsMissing: true })).url, {
      ids: [bankOnly, known, shopOnly],
    });
    expect(lenient.body.predictions.map(({ prediction }) => typeof prediction)).toEqual(["number", "number", "number"]);
    expect(lenient.body.predictions[1].prediction).toBe(Number(trained.get(known)));
  });

  test("a passive party that restarts is found again, also when it is away while requests come", async () => {
    const world = await worlds.restarted(1);
    const trained = trainingPredictions(world);
    const ids = [...trained.keys()];
    const served = await serve(world, { parameters: { timeout_ms: 20_000 } });
    expect(scoresIn((await post(served.url, { ids })).body.predictions)).toEqual(trained);
    const listen = { host: "127.0.0.1", port: world.parties[0].port };
    await world.parties[0].stop();
    const waiting = post(served.url, { ids });
    await world.start(world.shops[0], { listen });
    expect(scoresIn((await waiting).body.predictions)).toEqual(trained);
    expect(served.events.filter((event) => event.type === "error").length).toBeLessThanOrEqual(1);
  });

  test("a connection that drops everything is replaced within the request's time limit", async () => {
    const world = await worlds.restarted(1);
    const trained = trainingPredictions(world);
    const ids = [...trained.keys()];
    const proxy = await swallowingProxy(world.parties[0].port);
    const config = await world.activeConfig("proxied", {}, { ports: { shop0: proxy.port } });
    const { url } = await serve({ config }, { parameters: { timeout_ms: 4000 } });
    expect(scoresIn((await post(url, { ids })).body.predictions)).toEqual(trained);
    expect(proxy.connections()).toBe(1);
    proxy.swallow();
    expect(scoresIn((await post(url, { ids })).body.predictions)).toEqual(trained);
    expect(proxy.connections()).toBeGreaterThan(1);
  });

  test("a new model is served and an added id is known without a restart of the passive party", async () => {
    const world = await worlds.restarted(1);
    await world.train("autumn", { training: { num_round: 2 } });
    const trained = trainingPredictions(world, "autumn");
    const { url } = await serve(world, { model: "autumn" });
    expect(scoresIn((await post(url, { ids: [...trained.keys()] })).body.predictions)).toEqual(trained);
    for (const { folder } of [world.bank, world.shops[0]]) {
      const path = join(folder, "data.csv");
      const lines = readFileSync(path, "utf8").trim().split("\n");
      const [known] = trained.keys();
      const twin = lines.find((line) => line.startsWith(`${known},`))?.replace(known, "twin") ?? "";
      writeFileSync(path, `${[...lines, twin].join("\n")}\n`);
    }
    // Both sides look at their files at most once a second.
    let answer: Prediction = { id: "twin" };
    while (answer.prediction === undefined) answer = (await post(url, { ids: ["twin"] })).body.predictions[0];
    expect(String(answer.prediction)).toBe([...trained.values()][0]);
  });
});

describe("errors", () => {
  test("in a request", async () => {
    const world = await worlds.restarted(1);
    const { url } = await serve(world, { parameters: { request_ids: 3, request_bytes: 2000 } });
    const [row] = rowsOf(world, [people[30].id]);
    const cases: [body: unknown, status: number, says: RegExp][] = [
      ["{", 400, /not JSON text/],
      ["[]", 400, /must be a JSON object with 'ids' or 'rows'/],
      [{}, 400, /neither 'ids' nor 'rows'/],
      [{ ids: [] }, 400, /^ids: must not be empty/],
      [{ ids: ["a", "b", "c", "d"] }, 400, /^ids: must have at most 3 entries/],
      [{ ids: ["a", 7] }, 400, /^ids\[1\]: must be text/],
      [{ ids: ["a"], rows: [] }, 400, /rows: must not be empty|unknown field 'ids'/],
      [{ ids: ["a"], extra: 1 }, 400, /unknown field 'extra'/],
      [
        { rows: [{ ...row, features: { bank_0: 1 } }] },
        400,
        /^rows\[0\]\.features\.bank_1: must be a number, or null for a missing value/,
      ],
      [
        { rows: [row, { ...row, features: { ...row.features, bank_0: "12" } }] },
        400,
        /^rows\[1\]\.features\.bank_0: must be a number/,
      ],
      [
        { rows: [{ ...row, features: { ...row.features, bank_0: 1e39 } }] },
        400,
        /^rows\[0\]\.features\.bank_0: is outside the range of float32/,
      ],
      [{ ids: ["x".repeat(1025)] }, 400, /^ids\[0\]: must have at most 1024 characters/],
      [{ ids: ["x".repeat(3000)] }, 413, /more than 2000 bytes/],
    ];
    for (const [body, status, says] of cases) {
      const answer = await post(url, body);
      expect([answer.status, answer.body.error?.code], JSON.stringify(body)?.slice(0, 60)).toEqual([status, "USAGE"]);
      expect(answer.body.error?.message).toMatch(says);
    }
    expect((await fetch(`${url}/predict`)).status).toBe(405);
    expect((await fetch(`${url}/nothing`)).status).toBe(404);
    expect((await fetch(`${url}/predict`, { method: "POST", body: '{"ids":["a"]}' })).status).toBe(415);
    const status = await new Promise((resolve) => {
      httpRequest(`${url}/health`, { headers: { host: "evil.example" } }, (response) =>
        resolve(response.resume().statusCode),
      ).end();
    });
    expect(status).toBe(403);
    // Nothing of all this reached a passive party.
    expect(await metric(url, 'tandem_batches_total{model="spring",party="shop0",result="answered"}')).toBeNaN();
  });

  test("of a party: unreachable, without the model, not allowed by policy", async () => {
    const world = await worlds.restarted(1);
    const ids = [people[30].id];
    const { url, events } = await serve(world, { parameters: { timeout_ms: 1000 } });
    const patient = await serve(world);
    await world.parties[0].stop();
    const lost = await post(url, { ids });
    expect([lost.status, lost.body.error?.code]).toEqual([503, "PARTY_LOST"]);
    expect(lost.body.error?.message).toContain("party shop0");
    const notReady = await fetch(`${url}/ready`);
    expect(notReady.status).toBe(503);
    expect(await notReady.json()).toMatchObject({
      status: "not ready",
      parties: [{ party: "shop0", ready: false, error: { code: "PARTY_LOST" } }],
    });
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect(events.filter((event) => event.type === "error")).toHaveLength(1); // once, not for every attempt
    const listen = { host: "127.0.0.1", port: world.parties[0].port };
    const unwilling = await world.start(world.shops[0], { listen, policy: { scoring: false } });
    const refused = await post(patient.url, { ids });
    expect([refused.status, refused.body.error?.code]).toEqual([502, "POLICY"]);
    await unwilling.stop();
    await world.start(world.shops[0], { listen, output: { directory: "elsewhere" } });
    const unknown = await post(patient.url, { ids });
    expect([unknown.status, unknown.body.error?.code]).toEqual([502, "MODEL_UNKNOWN"]);
  });

  test("in the server's own data: logged, not returned to the caller", async () => {
    const world = await worlds.restarted(1);
    writeFileSync(join(world.bank.folder, "data.csv"), "id,bank_0\nzq1,1\n");
    const { url, events } = await serve(world);
    const answer = await post(url, { ids: ["zq1"] });
    expect([answer.status, answer.body.error]).toEqual([
      500,
      { code: "INTERNAL", message: "an internal error; the server's log has it" },
    ]);
    expect(events.find((event) => event.type === "error")).toMatchObject({ code: "COLUMN_UNKNOWN" });
  });
});

describe("access", () => {
  test("a token, if configured, is required for everything except the two health endpoints", async () => {
    const world = await worlds.restarted(1);
    const token = "s3cret-s3cret-s3cret";
    const { url } = await serve(world, { token });
    const ids = [people[30].id];
    for (const headers of [
      {},
      { authorization: "Bearer wrong" },
      { authorization: token },
      { authorization: `Basic ${token}` },
    ] as Record<string, string>[]) {
      const answer = await post(url, { ids }, headers);
      expect([answer.status, answer.body.error?.code]).toEqual([401, "UNAUTHORISED"]);
      expect(JSON.stringify(answer.body)).not.toContain(token);
    }
    const statuses = async (headers: Record<string, string>): Promise<number[]> =>
      Promise.all(
        ["/health", "/ready", "/metrics", "/openapi.json"].map(
          async (path) => (await fetch(url + path, { headers })).status,
        ),
      );
    expect(await statuses({})).toEqual([200, 200, 401, 401]);
    const authorization = `Bearer ${token}`;
    expect(await statuses({ authorization })).toEqual([200, 200, 200, 200]);
    expect((await post(url, { ids }, { authorization })).status).toBe(200);
  });

  test("listening beyond this machine needs a token or the insecure option", async () => {
    const world = await worlds.restarted(1);
    await expectError(
      () => serve(world, { host: "0.0.0.0" }),
      "USAGE",
      /--token-file, or pass --insecure-without-token/,
    );
    await serve(world, { host: "0.0.0.0", insecureWithoutToken: true });
    await serve(world, { host: "0.0.0.0", token: "s3cret-s3cret-s3cret" });
    const tokenFile = join(world.bank.folder, "token");
    writeFileSync(tokenFile, "short\n");
    const serveWith = () => tandemHere("serve", "-c", world.configPath, "--model", "spring", "--token-file", tokenFile);
    chmodSync(tokenFile, 0o644);
    expect((await serveWith()).stderr).toMatch(/chmod 600 '.*token'.*FILE_UNREADABLE/);
    chmodSync(tokenFile, 0o600);
    const { exitCode, stderr } = await serveWith();
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/at least 16 characters.*FILE_FORMAT/);
    expect(stderr).not.toContain("short");
  });

  test("the command serves, and on SIGTERM completes pending requests and exits with 0", async () => {
    const world = await worlds.restarted(1);
    const trained = trainingPredictions(world);
    const command = startTandem([
      "serve",
      "-c",
      world.configPath,
      "--model",
      "spring",
      "--port",
      "0",
      "--window-ms",
      "1000",
    ]);
    onTestFinished(() => void command.child.kill("SIGKILL"));
    const [, port] = await command.errorMatches(/"event":"listening".*"port":(\d+)/);
    const url = `http://127.0.0.1:${port}`;
    expect(await (await fetch(`${url}/ready`)).json()).toEqual({
      status: "ready",
      parties: [{ party: "shop0", ready: true }],
    });
    const underWay = post(url, { ids: [...trained.keys()] });
    // Until the request has arrived.
    while (
      !/tandem_queued_ids\{model="spring"\} [1-9]|tandem_batch_ids_count/.test(
        await (await fetch(`${url}/metrics`)).text(),
      )
    );
    command.child.kill("SIGTERM");
    const answer = await underWay;
    expect(scoresIn(answer.body.predictions)).toEqual(trained);
    const { exitCode, stderr } = await command.finished;
    expect(exitCode).toBe(0);
    expect(stderr).toContain('"event":"stopped"');
    expect(stderr).not.toMatch(/zq\d/);
    await expect(fetch(`${url}/health`)).rejects.toThrow("fetch failed");
  });
});

test("requests and responses match the OpenAPI document", async () => {
  const world = await worlds.restarted(1);
  const { url } = await serve(world, { token: null });
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as {
    openapi: string;
    paths: Record<
      string,
      Record<string, { responses: Record<string, { content: Record<string, { schema: { $ref?: string } }> }> }>
    >;
    components: { schemas: Record<string, Parameters<typeof z.fromJSONSchema>[0]> };
  };
  expect(document.openapi).toBe("3.1.0");
  const schema = (name: string): z.ZodType => z.fromJSONSchema(document.components.schemas[name]);
  /** A response that the document does not list, or whose body is not as it says, fails. */
  const check = async (path: string, method: "get" | "post", init: RequestInit = {}): Promise<number> => {
    const response = await fetch(url + path, { method: method.toUpperCase(), ...init });
    const listed = document.paths[path][method].responses[response.status];
    expect(listed, `${method} ${path} ${response.status}`).toBeDefined();
    const { $ref } = listed.content["application/json"].schema;
    schema($ref?.split("/").at(-1) ?? "").parse(await response.json());
    return response.status;
  };
  const sent = (body: unknown): RequestInit => ({
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const byRows = { rows: rowsOf(world, [people[30].id]) };
  const byIds = { ids: [people[30].id, "unknown"] };
  expect(schema("PredictByRows").safeParse(byRows).success).toBe(true);
  expect(schema("PredictByRows").safeParse({ rows: [{ id: "a", features: { bank_0: 1 } }] }).success).toBe(false);
  expect(schema("PredictByIds").safeParse(byIds).success).toBe(true);
  expect(schema("PredictByIds").safeParse({ ids: [] }).success).toBe(false);
  expect(schema("Predictions").safeParse({ model: "", predictions: [{ id: "a" }] }).success).toBe(false);
  expect(await check("/predict", "post", sent(byRows))).toBe(200);
  expect(await check("/predict", "post", sent(byIds))).toBe(200);
  expect(await check("/predict", "post", sent({ ids: 7 }))).toBe(400);
  expect(await check("/predict", "post", { body: "text" })).toBe(415);
  expect(await check("/health", "get")).toBe(200);
  expect(await check("/ready", "get")).toBe(200);
});
