/** The built command against real database servers, where they are installed: the bundle leaves out parts of pg. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { scratchDirectory } from "./support/command.ts";
import { tandemHere } from "./world/command-here.ts";
import { tandem } from "./world/tandem-process.ts";
import { testWorlds } from "./support/test-worlds.ts";
import { makePeople } from "./world/people.ts";
import type { PassiveChanges } from "./world/processes.ts";
import { MariadbServer, withoutMariadb } from "./support/mariadb-server.ts";
import { password, PostgresServer, withoutPostgres } from "./support/postgres-server.ts";

const worlds = testWorlds();
const double = { postgres: "float8", mysql: "double" };
const servers = [
  ["postgres", withoutPostgres, () => PostgresServer.start()],
  ["mysql", withoutMariadb, () => MariadbServer.start()],
] as const;

describe.each(servers)("%s", (kind, without, start) => {
  test.skipIf(without !== null)("a passive party's table comes from a server, over TLS", async () => {
    const folder = scratchDirectory();
    const server = await start();
    onTestFinished(() => server.stop());
    await server.run(
      `create table people (id varchar(20), x ${double[kind]})`,
      `insert into people values ${Array.from({ length: 200 }, (_, i) => `('p${i}', ${i / 7})`).join()}`,
    );
    await tandemHere("init", "passive", "--host", "127.0.0.1", "--port", "0", "--out", folder);
    const config = join(folder, "passive.yaml");
    const text = readFileSync(config, "utf8")
      .replace("PASTE-THE-ACTIVE-PARTYS-FINGERPRINT", "ab".repeat(32))
      .replace(
        /^ {2}path: .*$/m,
        `  ${kind}: { url_file: url, authority: "${server.folder}/authority.pem", query: select * from people }`,
      );
    writeFileSync(config, text);
    writeFileSync(join(folder, "url"), server.url(), { mode: 0o600 });
    const good = await tandemHere("party", "--config", config, "--dry-run");
    expect(good).toMatchObject({ exitCode: 0, stderr: "" });
    writeFileSync(join(folder, "url"), server.url(`${password}?`));
    const bad = await tandem("party", "--config", config, "--dry-run");
    expect(bad.exitCode).toBe(2);
    expect(bad.stderr).toMatch(/^error: data\.\w+: the server does not accept this user with this password/);
    expect(bad.stderr).not.toContain("s3cret");
  });

  test.skipIf(without !== null)("a model whose columns come from a server is that of files", async () => {
    const server = await start();
    onTestFinished(() => server.stop());
    const people = makePeople(80, `server-${kind}`);
    const world = await worlds.found({ bank: { people, columns: [0, 1] }, shop: { people, columns: [2, 3] } });
    const cell = (text: string): string => (text === "" ? "null" : text);
    const cells = people.map(({ id, values }) => `('${id}', ${cell(values[2])}, ${cell(values[3])})`);
    await server.run(
      `create table shoppers (id varchar(20), shop_2 ${double[kind]}, shop_3 ${double[kind]})`,
      `insert into shoppers values ${cells.join(", ")}`,
    );
    const url = join(world.shop.folder, "url");
    writeFileSync(url, server.url(), { mode: 0o600 });
    const source = {
      url_file: url,
      authority: join(server.folder, "authority.pem"),
      query: "select * from shoppers order by id",
    };
    const modelOf = async (job: string, changes: PassiveChanges): Promise<unknown> => {
      await world.start(world.shop, changes);
      await world.train(job);
      return world.model(job);
    };
    const files = await modelOf("files", {});
    expect(await modelOf("server", { data: { id: "id", features: "all", [kind]: source } })).toEqual(files);
  });
});
