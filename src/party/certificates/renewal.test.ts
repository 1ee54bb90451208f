import { copyFileSync, existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchDirectory } from "../../../test/support/command.ts";
import { companyAuthority } from "../../../test/support/company-authority.ts";
import { expectError } from "../../../test/support/expect-error.ts";
import { initIdentity } from "../init.ts";
import {
  finishRenewal,
  interruptedPair,
  readRenewal,
  renewCertificate,
  rollBack,
  switchCertificate,
} from "./renewal.ts";

async function company(tls: { readonly authority?: string } = {}) {
  const folder = scratchDirectory();
  const path = (file: string): string => join(folder, file);
  const { fingerprint } = await initIdentity("shop", folder);
  const files = { certificate: path("certificate.pem"), key: path("key.pem"), ...tls };
  const own = { name: "shop", tls: files };
  const shown = async () => {
    const { current, next, previous } = await readRenewal(own);
    return [current, next, previous].map((pair) => pair?.certificate?.fingerprint ?? null);
  };
  return { own, path, first: fingerprint, shown };
}

test("renew, switch, finish: the next pair becomes current, and the previous key is gone in the end", async () => {
  const { own, path, first, shown } = await company();
  await renewCertificate(own, 90, false);
  expect(statSync(path("key.next.pem")).mode & 0o777).toBe(0o600);
  const [, second] = await shown();
  expect(await shown()).toEqual([first, second, null]);
  await switchCertificate(own);
  expect(await shown()).toEqual([second, null, first]);
  expect(statSync(path("key.pem")).mode & 0o777).toBe(0o600);
  expect(statSync(path("key.previous.pem")).mode & 0o777).toBe(0o600);
  expect(await finishRenewal(own)).toBe(true);
  expect(await shown()).toEqual([second, null, null]);
  expect(existsSync(path("key.previous.pem"))).toBe(false);
  expect(await finishRenewal(own)).toBe(false);
});

test("a step back before and after the switch, and forward again", async () => {
  const { own, path, first, shown } = await company();
  expect(await rollBack(own)).toBe(null);
  await renewCertificate(own, 90, false);
  expect(await rollBack(own)).toBe("discarded");
  expect(await shown()).toEqual([first, null, null]);
  expect(existsSync(path("key.next.pem"))).toBe(false);
  await renewCertificate(own, 90, false);
  const [, second] = await shown();
  await switchCertificate(own);
  expect(await rollBack(own)).toBe("switched back");
  expect(await shown()).toEqual([first, second, null]);
  await switchCertificate(own);
  expect(await shown()).toEqual([second, null, first]);
});

test("a step at the wrong time changes nothing", async () => {
  const { own, shown } = await company();
  await expectError(() => switchCertificate(own), "USAGE", /tandem cert renew/);
  await renewCertificate(own, 90, false);
  const before = await shown();
  await expectError(() => renewCertificate(own, 90, false), "USAGE", /a renewal has begun.*rollback/);
  await expectError(() => finishRenewal(own), "USAGE", /not in use yet/);
  expect(await shown()).toEqual(before);
  await switchCertificate(own);
  await expectError(() => renewCertificate(own, 90, false), "USAGE", /not finished.*tandem cert finish/);
});

test("a switch that was interrupted at any point is completed by repeating it, or taken back", async () => {
  const steps: readonly ((path: (file: string) => string) => void)[] = [
    () => {},
    (path) => copyFileSync(path("key.pem"), path("key.previous.pem")),
    (path) => copyFileSync(path("certificate.pem"), path("certificate.previous.pem")),
    (path) => renameSync(path("key.next.pem"), path("key.pem")),
  ];
  for (const last of steps.keys())
    for (const isBack of [false, true]) {
      const { own, path, first, shown } = await company();
      await renewCertificate(own, 90, false);
      const second = (await shown())[1];
      for (const step of steps.slice(0, last + 1)) step(path);
      expect(interruptedPair(await readRenewal(own)) !== null).toBe(last === 3);
      if (isBack) {
        await rollBack(own);
        expect((await shown())[0]).toBe(first);
      } else {
        await switchCertificate(own);
        expect(await shown()).toEqual([second, null, first]);
      }
    }
});

test("a next certificate that cannot be used is refused before anything changes", async () => {
  const { own, path, first, shown } = await company();
  await renewCertificate(own, 90, false);
  copyFileSync(path("certificate.pem"), path("certificate.next.pem"));
  await expectError(() => switchCertificate(own), "USAGE", /there is no next certificate/);
  const other = await company();
  copyFileSync(other.path("certificate.pem"), path("certificate.next.pem"));
  await expectError(() => switchCertificate(own), "CERTIFICATE", /is not the key of/);
  writeFileSync(path("certificate.next.pem"), "no certificate");
  await expectError(() => switchCertificate(own), "CERTIFICATE", /not a certificate/);
  renameSync(path("certificate.next.pem"), path("away.pem"));
  await expectError(() => switchCertificate(own), "USAGE", /is missing/);
  expect((await shown())[0]).toBe(first);
});

test("a certificate of the company's own authority: from a request, and no other is accepted", async () => {
  const folder = scratchDirectory();
  const authority = await companyAuthority("company");
  writeFileSync(join(folder, "authority.pem"), authority.certificate);
  const { own, path } = await company({ authority: join(folder, "authority.pem") });
  const { request } = await renewCertificate(own, 90, true);
  expect(readFileSync(request ?? "", "utf8")).toContain("BEGIN CERTIFICATE REQUEST");
  await expectError(() => switchCertificate(own), "USAGE", /certificate.next.pem is missing.*authority/);
  const other = await companyAuthority("other");
  writeFileSync(path("certificate.next.pem"), await other.sign(readFileSync(request ?? "", "utf8")));
  await expectError(() => switchCertificate(own), "CERTIFICATE", /not issued by/);
  writeFileSync(path("certificate.next.pem"), await authority.sign(readFileSync(request ?? "", "utf8")));
  await switchCertificate(own);
  expect((await readRenewal(own)).current?.fits).toBe(true);
});
