/** What of a job stays for verification. */
import { expect, test } from "vitest";
import { noDefences } from "../../privacy/defences/defences.ts";
import { schemeNamed, schemeNames } from "../../scheme/registry.ts";
import { isRepeatable } from "../job-evidence.ts";
import { mayKeepSecrets } from "./job-evidence.ts";

test("the secret of noise is kept only where verify-job replays answers", () => {
  const noisy = { ...noDefences, answer_noise: 10 };
  for (const scheme of schemeNames()) {
    expect(mayKeepSecrets({ scheme, defences: noisy }), scheme).toBe(schemeNamed(scheme).replay !== undefined);
    expect(mayKeepSecrets({ scheme, defences: noDefences }), scheme).toBe(true);
  }
  for (const scheme of ["paillier", "lattice"]) expect(mayKeepSecrets({ scheme, defences: noisy })).toBe(true);
});

test("a redone tree may have another link only where outcomes are hidden", () => {
  expect(isRepeatable("paillier", { hidden_outcomes: true, hidden_sums: false })).toBe(true);
  expect(isRepeatable("lattice", { hidden_outcomes: false, hidden_sums: false })).toBe(true);
  expect(isRepeatable("lattice", { hidden_outcomes: true, hidden_sums: false })).toBe(false);
});
