import { chmod, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { readSecretFile } from "./secret-file.ts";

let folder: string;
let path: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tandem-secret-"));
  path = join(folder, "key.pem");
  await writeFile(path, "s3cret words", { mode: 0o600 });
});
afterAll(() => rm(folder, { recursive: true }));

describe.skipIf(process.platform === "win32")("a secret", () => {
  test.each([0o600, 0o400, 0o700])("that its owner alone can read is read (mode %o)", async (mode) => {
    await chmod(path, mode);
    expect(await readSecretFile(path)).toBe("s3cret words");
  });

  test.each([0o644, 0o640, 0o604, 0o620, 0o602, 0o601])(
    "that others can access is rejected (mode %o)",
    async (mode) => {
      await chmod(path, mode);
      const error = await expectError(() => readSecretFile(path), "FILE_UNREADABLE", /chmod 600 '.*key\.pem'/);
      expect(error.message).not.toContain("s3cret words");
      const link = join(folder, `link-${mode}`);
      await symlink(path, link);
      await expectError(() => readSecretFile(link), "FILE_UNREADABLE", /chmod 600/);
      expect(await readSecretFile(path, { insecure: true })).toBe("s3cret words");
    },
  );
});
