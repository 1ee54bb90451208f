/** What of a job stays for verification. */
import { expect, test } from "vitest";
import { noDefences } from "../../privacy/defences/defences.ts";
import { schemeNamed, schemeNames } from "../../scheme/registry.ts";
import { mayKeepSecrets } from "./job-evidence.ts";

test("the secret of noise is kept only where answers can be replayed", () => {
  const noisy = { ...noDefences, answer_noise: 10 };
  for (const scheme of schemeNames()) {
    const isReplayable = schemeNamed(scheme).replay !== undefined;
    expect(mayKeepSecrets({ scheme, defences: noisy }), scheme).toBe(isReplayable);
    expect(mayKeepSecrets({ scheme, defences: noDefences }), scheme).toBe(true);
  }
  expect(mayKeepSecrets({ scheme: "paillier", defences: noisy })).toBe(true);
});
