/** The files of deploy/: units, compose, health check. Charts: helm-chart.test.ts; dashboards: dashboards.test.ts. */
import { execFile, spawnSync } from "node:child_process";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { parse } from "yaml";
import { packagePath } from "../src/base/package-root.ts";
import { programVersion } from "../src/base/program-version.ts";
import { scratchDirectory } from "./support/command.ts";
import { composeSchema } from "./support/platform-schemas.ts";

const fileOf = (...names: string[]): string => readFileSync(packagePath("deploy", ...names), "utf8");
const units = readdirSync(packagePath("deploy", "systemd"));

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).status === 0;
if (!hasSystemd) console.warn("no systemd-analyze here (apt install systemd): units are not verified");

test.runIf(hasSystemd)("systemd accepts the units, and finds them well confined", () => {
  expect(units).toHaveLength(4);
  const folder = scratchDirectory();
  const program = join(folder, "tandem");
  writeFileSync(program, "#!/bin/sh\n");
  chmodSync(program, 0o755);
  for (const unit of units) {
    const path = join(folder, unit);
    writeFileSync(path, fileOf("systemd", unit).replaceAll("/usr/local/bin/tandem", program));
    const verified = spawnSync("systemd-analyze", ["verify", path], { encoding: "utf8" });
    // Machines of tests have no user of this name, and their own units may have mistakes.
    const complaints = verified.stderr.split("\n").filter((line) => line.includes(unit));
    expect(complaints, unit).toEqual([]);
    const judged = spawnSync("systemd-analyze", ["security", "--offline=yes", path], { encoding: "utf8" });
    if (judged.status !== 0) continue; // before systemd 250
    const exposure = Number(/exposure level for .*: ([\d.]+)/.exec(judged.stdout)?.[1]);
    expect(exposure, unit).toBeLessThan(2);
  }
});

test("units differ in what they start, and in the ports below 1024 of a relay", () => {
  const bare = (unit: string): string =>
    fileOf("systemd", unit).replaceAll(/^(?:# \/etc|Description|ExecStart|\w+(?:BoundingSet|Capabilities)=).*$/gm, "");
  for (const unit of units) expect(bare(unit), unit).toBe(bare(units[0]));
});

test("compose.yaml has what its specification knows, and every service is confined", () => {
  const compose = parse(fileOf("compose.yaml"), { merge: true }) as {
    services: Record<string, { readonly [field: string]: unknown }>;
  };
  expect(composeSchema(compose, "")).toEqual([]);
  for (const [name, service] of Object.entries(compose.services))
    expect(service, name).toMatchObject({
      image: `tandem:${programVersion()}`,
      user: "1000:1000",
      read_only: true,
      cap_drop: ["ALL"],
      security_opt: ["no-new-privileges:true"],
    });
});

test("the image runs without root, and its comment names this release", () => {
  const dockerfile = fileOf("Dockerfile");
  expect(dockerfile).toContain(`-t tandem:${programVersion()} .`);
  expect(dockerfile.lastIndexOf("USER 1000:1000")).toBeGreaterThan(dockerfile.lastIndexOf("RUN "));
});

test("the health check says whether an address answers, with its token", async () => {
  const server = createServer((request, response) =>
    response.writeHead(request.headers.authorization === "Bearer right" ? 200 : 401).end(),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const token = join(scratchDirectory(), "token");
  const health = async (url: string, text = "right"): Promise<string> => {
    writeFileSync(token, `${text}\n`, { mode: 0o600 });
    const env = { ...process.env, TANDEM_HEALTH_URL: url, TANDEM_HEALTH_TOKEN_FILE: token };
    return promisify(execFile)(process.execPath, [packagePath("deploy", "health.mjs")], { env }).then(
      () => "healthy",
      ({ code, stderr }: { code: number; stderr: string }) => `${code}: ${stderr}`,
    );
  };
  const url = `http://127.0.0.1:${port}/metrics`;
  expect(await health(url)).toBe("healthy");
  expect(await health(url, "wrong")).toMatch(/^1: .*status 401/);
  expect(await health("http://127.0.0.1:1/metrics")).toMatch(/^1: .*no connection/);
});
