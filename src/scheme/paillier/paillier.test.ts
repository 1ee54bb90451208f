/** Descriptions and warnings of the Paillier scheme. */
import { expect, test } from "vitest";
import { expectError } from "../../../test/support/expect-error.ts";
import { schemeWarning } from "../registry.ts";
import { paillier } from "./paillier.ts";

test("a short key is rejected unless insecure_key_bits asks for it; then every viewer is warned", async () => {
  await expectError(() => paillier.parameters({ keyBits: 1024, insecureKey: false }), "KEY_TOO_SHORT");
  const short = paillier.parameters({ keyBits: 1024, insecureKey: true });
  expect(paillier.describe(short)).toBe("a 1024-bit Paillier key (insecure: for experiments only)");
  expect(schemeWarning({ scheme: "paillier", schemeParameters: short }).warning).toMatch(
    /1024 bits is insecure: it can be factored/,
  );
  const long = paillier.parameters({ keyBits: 2048, insecureKey: false });
  expect(paillier.describe(long)).toBe("a 2048-bit Paillier key");
  expect(schemeWarning({ scheme: "paillier", schemeParameters: long })).toEqual({});
});
