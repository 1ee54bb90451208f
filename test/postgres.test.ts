/** The built command against a real PostgreSQL server, where one is installed: the bundle leaves out parts of pg. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory, tandem } from "./support/command.ts";
import { password, PostgresServer, withoutPostgres } from "./support/postgres-server.ts";

const folder = scratchDirectory();

test.skipIf(withoutPostgres !== null)("a passive party's table comes from a server, over TLS", async () => {
  const server = await PostgresServer.start();
  try {
    await server.run(
      "create table people as select 'p' || i as id, i / 7.0 as x, i % 2 = 0 as y from generate_series(1, 500) i",
    );
    await tandem("init", "passive", "--host", "127.0.0.1", "--port", "0", "--out", folder);
    const config = join(folder, "passive.yaml");
    const text = readFileSync(config, "utf8")
      .replace("PASTE-THE-ACTIVE-PARTYS-FINGERPRINT", "ab".repeat(32))
      .replace(
        /^ {2}path: .*$/m,
        `  postgres: { url_file: url, authority: "${join(server.folder, "authority.pem")}", query: table people }`,
      );
    writeFileSync(config, text);
    writeFileSync(join(folder, "url"), server.url(), { mode: 0o600 });
    const good = await tandem("party", "--config", config, "--dry-run");
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
