/** The addon parses input of other companies: a memory error must end the process, not be exploitable. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { packagePath } from "../../base/package-root.ts";

const addon = packagePath("build", "tandem.node");

function readelf(option: string): string | null {
  try {
    return execFileSync("readelf", [option, "-W", addon], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  } catch {
    return null;
  }
}

const canLook = process.platform === "linux" && existsSync(addon) && readelf("-h") !== null;

test.runIf(canLook)("the addon has stack canaries and full RELRO", () => {
  expect(readelf("--dyn-syms")).toContain("__stack_chk_fail");
  expect(readelf("--dynamic")).toMatch(/\bNOW\b/);
  const segments = readelf("--segments") ?? "";
  expect(segments).toContain("GNU_RELRO");
  expect(/GNU_STACK.*/.exec(segments)?.[0]).toMatch(/ RW /);
});

test.runIf(canLook)("the addon stays loaded when the thread that loaded it ends: its own threads still run", () => {
  expect(readelf("--dynamic")).toMatch(/\bNODELETE\b/);
});
