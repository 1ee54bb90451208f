/**
 * Features that a party takes by id when people are scored, from a database or an HTTP service: the scores are those of
 * its table, byte for byte, and so is what the other party learns of an id that is not there.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { startServer } from "../src/scoring/http/run-serve.ts";
import type { ErrorCode } from "../src/base/error.ts";
import { runPredict } from "../src/scoring/run-predict.ts";
import { resolveParameters, servingParameters } from "../src/base/parameters/parameters.ts";
import { expectError } from "./support/expect-error.ts";
import { type FeatureService, startFeatureService } from "./support/feature-service.ts";
import { MariadbServer, withoutMariadb } from "./support/mariadb-server.ts";
import { PostgresServer, withoutPostgres } from "./support/postgres-server.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { csvText, labelledTable, makePeople, type Table } from "./world/people.ts";
import type { ActiveChanges, ProcessWorld } from "./world/processes.ts";

const worlds = testWorlds();
const people = makePeople(110, "by id");
/** Numbers, text, and numbers that stand for categories; some of each are missing. */
const shopTable: Table = {
  header: ["id", "amount", "kind", "grade"],
  rows: people.slice(0, 100).map(({ id, values }) => {
    const [amount, other, third] = [values[2], Number(values[3]), Number(values[4])];
    const kind = values[3] === "" ? "NA" : other < -0.4 ? "it's" : other < 0.5 ? "größe" : "plain";
    return [id, amount, kind, values[4] === "" ? "" : String(Math.round(third) + 3)];
  }),
};
const shopData = { id: "id", features: "all" as const, categorical: ["grade"], missing: ["NA"] };
/** Ids that no table has, and that mean something to a database, to JSON or to Unicode. */
const others = ["it's", "x'; drop table shoppers; --", '"', "\\", "%", "?", "$1", "ZQ1000X", "😀", "null", "__proto__"];
const job: ActiveChanges = { training: { enable_categorical: true, num_round: 4, max_depth: 4 } };

let world: ProcessWorld;
let input: string;
/** With the tables of both parties. */
let [scores, asMissing, masked, answers] = ["", "", "", ""];

beforeAll(async () => {
  world = await worlds.found({ bank: { people, columns: [0, 1] }, shop: shopTable });
  await world.start(world.shop, { data: { path: "data.csv", ...shopData } });
  await world.train("spring", job);
  await world.train("masked", { ...job, privacy: { masked_scoring: true } });
  input = join(world.bank.folder, "input.csv");
  const rows = [...people, ...others.map((id, i) => ({ ...people[i], id }))];
  writeFileSync(input, csvText(labelledTable(rows, [0, 1], "bank")));
  scores = await predict("spring");
  asMissing = await predict("spring", "missing");
  masked = await predict("masked");
  answers = await served({});
});

test("tables give a score to each of the shop's people, and to no other id", () => {
  for (const text of [scores, masked]) expect(text.split("\n")).toHaveLength(100 + 2);
  expect(asMissing.split("\n")).toHaveLength(people.length + others.length + 2);
  expect(answers.match(/ID_UNKNOWN/g)).toHaveLength(10 + others.length);
});

async function predict(model: string, unknown: "skip" | "missing" = "skip"): Promise<string> {
  const output = join(world.bank.folder, "scores.csv");
  const config = await world.activeConfig("spring", job);
  await runPredict(config, { model, input, output, unknown, onProgress: () => {} });
  return readFileSync(output, "utf8");
}

/** What `tandem serve` answers about everyone, by id. */
async function served(changes: ActiveChanges): Promise<string> {
  const options = {
    model: "spring",
    host: "127.0.0.1",
    port: 0,
    token: null,
    insecureWithoutToken: false,
    unknownAsMissing: false,
    parameters: resolveParameters(servingParameters, {}),
    version: "0",
  };
  const server = await startServer(await world.activeConfig("spring", { ...job, ...changes }), options, () => {});
  try {
    const answer = await fetch(`http://127.0.0.1:${server.port}/predict`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ids: [...people.map(({ id }) => id), ...others] }),
    });
    expect(answer.status).toBe(200);
    return await answer.text();
  } finally {
    await server.close();
  }
}

/** A database on a busy machine takes longer than a person waits for a score. */
const patient = { timeout_ms: 60_000 };

interface Source {
  /** The fields of `scoring.features` for this table, which it holds from now on. */
  holding(name: string, table: Table): Promise<object>;
  close(): Promise<void>;
}

const sources: [kind: string, without: string | null, start: () => Promise<Source>][] = [
  ["http", null, services],
  ["postgres", withoutPostgres, async () => database(await PostgresServer.start(), "postgres", "float4", "= any($1)")],
  ["mysql", withoutMariadb, async () => database(await MariadbServer.start(), "mysql", "float", "in (?)")],
];

async function services(): Promise<Source> {
  const started: FeatureService[] = [];
  return {
    holding: async (_name, table) => {
      const service = await startFeatureService(world.root, table);
      started.push(service);
      return { http: service.fields };
    },
    close: async () => void (await Promise.all(started.map((service) => service.close()))),
  };
}

function database(server: PostgresServer | MariadbServer, kind: string, float: string, among: string): Source {
  const url = join(world.root, `${kind}-url`);
  writeFileSync(url, server.url(), { mode: 0o600 });
  const numbers = new Set(["amount", "bank_0", "bank_1"]);
  const cell = (text: string): string => (text === "" ? "null" : `'${text.replaceAll("'", "''")}'`);
  return {
    holding: async (name, { header, rows }) => {
      const columns = header.map((column) => `${column} ${numbers.has(column) ? float : "varchar(40)"}`);
      await server.run(
        `create table ${name} (${columns.join()}, primary key (id))`,
        `insert into ${name} values ${rows.map((row) => `(${row.map(cell).join()})`).join()}`,
      );
      const authority = join(server.folder, "authority.pem");
      return { [kind]: { url_file: url, authority, query: `select * from ${name} where id ${among}` } };
    },
    close: () => server.stop(),
  };
}

test.each(sources)("scores with features from %s are those of tables", async (kind, without, start) => {
  if (without !== null) return;
  const source = await start();
  onTestFinished(() => source.close());
  const features = { ...(await source.holding("shoppers", shopTable)), ...patient };
  // A table of other people: nothing of it may be used.
  const other = { header: shopTable.header, rows: [["x", "1", "a", "1"]] };
  writeFileSync(join(world.shop.folder, "other.csv"), csvText(other));
  const data = { path: "other.csv", ...shopData };
  await world.start(world.shop, { data, scoring: { features } });
  expect(await predict("spring")).toBe(scores);
  expect(await predict("spring", "missing")).toBe(asMissing);
  await world.start(world.shop, {
    data,
    scoring: { features: { ...features, cache_seconds: 60, cache_people: 90 } },
  });
  for (let again = 0; again < 2; again++) expect(await predict("spring")).toBe(scores);
  if (kind === "http") expect(await predict("masked")).toBe(masked);
  const { header, rows } = labelledTable(people, [0, 1], "bank");
  const own = await source.holding("clients", { header, rows });
  writeFileSync(join(world.bank.folder, "none.csv"), csvText({ header, rows: [["x", "1", "1", "payer"]] }));
  expect(await served({ data: { path: "none.csv" }, scoring: { features: { ...own, ...patient } } })).toBe(answers);
});

test("whatever goes wrong with a service, the bank learns that there was trouble, and the log says which", async () => {
  const service = await startFeatureService(world.shop.folder, shopTable);
  onTestFinished(() => service.close());
  const features = { http: { ...service.fields, response_bytes: 2048 }, timeout_ms: 5000 };
  const { http } = features;
  const body = (text: string) => (response: Parameters<NonNullable<typeof service.instead>>[0]) => response.end(text);
  const shop = await world.start(world.shop, { data: { path: "data.csv", ...shopData }, scoring: { features } });
  const expectTrouble = async (party: typeof shop, code: ErrorCode, says: RegExp): Promise<void> => {
    const before = party.events.length;
    await expectError(() => predict("spring"), code, /^shop has trouble with its own files\. Its log says what$/);
    const logged = party.events.slice(before).flatMap((event) => (event.type === "error" ? [event.message] : []));
    expect(logged.join("\n")).toMatch(says);
  };
  for (const [instead, code, says] of [
    [body("[]"), "FILE_FORMAT", /http: the answer must be an object from ids/],
    [body('{"zq1000x": {"amount": 1}}'), "FILE_FORMAT", /a person without the feature '(kind|grade)'/],
    [body(`{"${"x".repeat(4000)}": {}}`), "FILE_FORMAT", /more than 2048 bytes/],
    [
      (response) => response.writeHead(302, { location: "https://elsewhere" }).end(),
      "FILE_UNREADABLE",
      /answers with status 302/,
    ],
    [(response) => response.writeHead(503).end(), "FILE_UNREADABLE", /answers with status 503/],
    [
      (response) => response.destroy(),
      "FILE_UNREADABLE",
      /the connection to the service was lost|cannot be reached, or was lost/,
    ],
  ] as [NonNullable<typeof service.instead>, ErrorCode, RegExp][]) {
    service.instead = instead;
    await expectTrouble(shop, code, says);
  }
  service.instead = () => {};
  const hasty = { features: { ...features, timeout_ms: 50 } };
  const late = await world.start(world.shop, { data: { path: "data.csv", ...shopData }, scoring: hasty });
  await expectTrouble(late, "FILE_UNREADABLE", /there was no answer within 50 ms/);
  service.instead = null;
  for (const [changed, says, code = "FILE_UNREADABLE"] of [
    [{ fingerprint: "ab".repeat(32) }, /another certificate than 'fingerprint'/],
    [{ authority: undefined }, /certificate is not trusted/],
    [{ token_file: "key.pem" }, /a token has at least 16 characters and no spaces/, "FILE_FORMAT"],
    [{ url: "https://127.0.0.1:1/" }, /the service cannot be reached, or was lost \(ECONNREFUSED\)/],
  ] as [object, RegExp, ErrorCode?][]) {
    const changes = { features: { ...features, http: { ...http, ...changed } } };
    await expectTrouble(
      await world.start(world.shop, { data: { path: "data.csv", ...shopData }, scoring: changes }),
      code,
      says,
    );
  }
});
