/** The built command against a real PostgreSQL server, where one is installed: the bundle leaves out parts of pg. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";
import type { PassiveChanges } from "./world/processes.ts";
import { password, PostgresServer, withoutPostgres } from "./support/postgres-server.ts";

const folder = scratchDirectory();
const worlds = testWorlds();

test.skipIf(withoutPostgres !== null)("a passive party's table comes from a server, over TLS", async () => {
  const server = await PostgresServer.start();
  try {
    await server.run(
      "create table people as select 'p' || i as id, i / 7.0 as x, i % 2 = 0 as y from generate_series(1, 500) i",
    );
    await tandemHere("init", "passive", "--host", "127.0.0.1", "--port", "0", "--out", folder);
    const config = join(folder, "passive.yaml");
    const text = readFileSync(config, "utf8")
      .replace("PASTE-THE-ACTIVE-PARTYS-FINGERPRINT", "ab".repeat(32))
      .replace(
        /^ {2}path: .*$/m,
        `  postgres: { url_file: url, authority: "${join(server.folder, "authority.pem")}", query: table people }`,
      );
    writeFileSync(config, text);
    writeFileSync(join(folder, "url"), server.url(), { mode: 0o600 });
    const good = await tandemHere("party", "--config", config, "--dry-run");
    expect(good).toMatchObject({ exitCode: 0, stderr: "" });
    writeFileSync(join(folder, "url"), server.url(`${password}?`));
    const bad = await tandem("party", "--config", config, "--dry-run");
    expect(bad.exitCode).toBe(2);
    expect(bad.stderr).toMatch(/^error: data\.postgres: the server does not accept this user with this password/);
    expect(bad.stderr).not.toContain("s3cret");
  } finally {
    await server.stop();
  }
});

test.skipIf(withoutPostgres !== null)("a model whose columns come from a server is that of files", async () => {
  const server = await PostgresServer.start();
  onTestFinished(() => server.stop());
  const people = makePeople(80, "server");
  const world = await worlds.found({ bank: { people, columns: [0, 1] }, shop: { people, columns: [2, 3] } });
  const cells = people.map(({ id, values }) => `('${id}', ${Number(values[2])}, ${Number(values[3])})`);
  await server.run(
    "create table shoppers (id text, shop_2 float8, shop_3 float8)",
    `insert into shoppers values ${cells.join(", ")}`,
  );
  const url = join(world.shop.folder, "url");
  writeFileSync(url, server.url(), { mode: 0o600 });
  const authority = join(server.folder, "authority.pem");
  const postgres = { url_file: url, authority, query: "table shoppers" };
  const modelOf = async (job: string, changes: PassiveChanges): Promise<unknown> => {
    await world.start(world.shop, changes);
    await world.train(job);
    return world.model(job);
  };
  const files = await modelOf("files", {});
  expect(await modelOf("server", { data: { id: "id", features: "all", postgres } })).toEqual(files);
});
