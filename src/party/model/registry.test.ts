import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { scratchDirectory } from "../../../test/support/command.ts";
import { Crashed, SimulatedDisk } from "../../../test/world/faults/simulated-storage.ts";
import { readRegistry, type Registry, registryPath, writeRegistry } from "../../store/registry-file.ts";
import { changeRegistry } from "./registered-share.ts";
import { promote, referenceFrom, register, resolve, retire, rollBack, rolledBackTo } from "./registry.ts";

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 31, 12, minute));
const share = (job: string): { job: string; model: string; share: string } => ({
  job,
  model: Buffer.from(job).toString("hex").padEnd(64, "0"),
  share: Buffer.from(job).toString("hex").padEnd(64, "f"),
});

/** credit@1 to credit@n, of the jobs j1 to jn. */
function registered(count: number): Registry {
  let registry: Registry = { models: [] };
  for (let i = 1; i <= count; i++) ({ registry } = register(registry, "credit", share(`j${i}`), at(i)));
  return registry;
}

const credit = (of: string): { name: string; of: string } => ({ name: "credit", of });

test("an alias moves, is rolled back step by step, and stops at its first version", async () => {
  let registry = registered(3);
  for (const [i, version] of ["1", "2", "3"].entries())
    registry = promote(registry, credit(version), "champion", at(i));
  expect(resolve(registry, credit("champion")).job).toBe("j3");
  registry = promote(registry, credit("1"), "challenger", at(9));
  for (const job of ["j2", "j1"]) {
    expect(rolledBackTo(registry, credit("champion")).job).toBe(job);
    registry = rollBack(registry, credit("champion"), at(10));
    expect(resolve(registry, credit("champion")).job).toBe(job);
  }
  expect(resolve(registry, credit("challenger")).job).toBe("j1");
  await expectError(() => rollBack(registry, credit("champion"), at(11)), "USAGE", /nothing to roll back to/);
  await expectError(() => rollBack(registry, credit("other"), at(11)), "USAGE", /nothing to roll back to/);
});

test("what is refused, and leaves the registry as it was", async () => {
  const two = promote(registered(2), credit("2"), "champion", at(3));
  const before = JSON.stringify(two);
  await expectError(() => promote(two, credit("2"), "champion", at(4)), "USAGE", /the champion already/);
  await expectError(() => promote(two, credit("3"), "champion", at(4)), "MODEL_UNKNOWN", /has champion, 1, 2$/);
  await expectError(() => promote(two, { name: "loan", of: "1" }, "champion", at(4)), "MODEL_UNKNOWN", /has credit$/);
  await expectError(() => promote(two, credit("1"), "2", at(4)), "USAGE", /--as takes a letter/);
  await expectError(() => retire(two, credit("2"), at(4)), "USAGE", /is the champion. Promote another/);
  await expectError(() => register(two, "../x", share("j3"), at(4)), "USAGE", /--name/);
  await expectError(() => register(two, "loan", share("j2"), at(4)), "USAGE", /registered as credit@2/);
  const retired = retire(two, credit("1"), at(5));
  await expectError(() => promote(retired, credit("1"), "challenger", at(6)), "POLICY", /retired on 2026-01-31/);
  await expectError(() => retire(retired, credit("1"), at(6)), "USAGE", /retired already/);
  expect(JSON.stringify(two)).toBe(before);
  const again = register(retired, "credit", share("j1"), at(7));
  expect([again.version.version, again.registry]).toEqual([1, two]);
});

test("a rollback does not reach a version that was retired since", async () => {
  let registry = promote(registered(2), credit("1"), "champion", at(3));
  registry = retire(promote(registry, credit("2"), "champion", at(4)), credit("1"), at(5));
  await expectError(() => rollBack(registry, credit("champion"), at(6)), "POLICY", /credit@1 was retired/);
});

test.each([
  ["credit@champion", true],
  ["credit@2", true],
  ["spring.model-1@a_b", true],
  ["credit", false],
  ["credit@0", false],
  ["credit@1x", false],
  ["credit@", false],
  ["../a@1", false],
  ["a@b@c", false],
  ["@champion", false],
])("%s is a reference: %s", (text, expected) => {
  expect(referenceFrom(text) !== null).toBe(expected);
});

test("a crash before or after the write leaves the registry of before or of after, and never another", async () => {
  const directory = scratchDirectory();
  const before = promote(registered(2), credit("1"), "champion", at(3));
  const change = (registry: Registry): Registry => promote(registry, credit("2"), "champion", at(4));
  for (const place of ["before", "after"] as const) {
    const disk = new SimulatedDisk();
    const hooks = { ticks: () => 1, before: () => {}, after: () => {} };
    await writeRegistry(
      directory,
      before,
      disk.storage(() => false, hooks),
    );
    const crash = (): never => {
      throw new Crashed();
    };
    const crashing = disk.storage(() => false, { ...hooks, [place]: crash });
    await expect(changeRegistry(directory, change, crashing)).rejects.toBeInstanceOf(Crashed);
    const after = await readRegistry(
      directory,
      disk.storage(() => false, hooks),
    );
    expect(after).toEqual(place === "before" ? before : change(before));
  }
});

test("one process changes it at a time, and a damaged file is refused with advice", async () => {
  const directory = scratchDirectory();
  await changeRegistry(directory, () => registered(1));
  const nested = changeRegistry(directory, () => changeRegistry(directory, (registry) => registry));
  await expectError(() => nested, "PARTY_BUSY", /another process/);
  const disk = new SimulatedDisk();
  const storage = disk.storage(() => false, { ticks: () => 0, before: () => {}, after: () => {} });
  await writeRegistry(directory, registered(1), storage);
  disk.files.edit((text) => text.replace('"j1"', '"j2"'));
  await expectError(() => readRegistry(directory, storage), "FILE_FORMAT", /models.json is damaged.*Restore it/);
  expect(registryPath("jobs")).toBe("jobs/.registry/models.json");
});
