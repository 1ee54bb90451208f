import { expect, test } from "vitest";
import { formText } from "./preset-form.ts";
import { type GivenJob, resolveJob } from "./resolve-job.ts";

const small = { max_depth: 3 };

function formOf(given: GivenJob): { readonly noise: number; readonly hides: boolean; readonly text: string | null } {
  const job = resolveJob(given);
  return { noise: job.privacy.answer_noise, hides: job.privacy.hidden_sums, text: formText(job) };
}

test.each(["paillier", "lattice"])("%s: guarded and strict hide sums", (scheme) => {
  for (const privacy of ["guarded", "strict"] as const)
    expect(formOf({ scheme, privacy: { privacy }, training: small })).toEqual({
      noise: 0,
      hides: true,
      text: `privacy: ${privacy} hides sums in this job (hidden_sums)`,
    });
  expect(formOf({ scheme, training: small })).toEqual({ noise: 0, hides: false, text: null });
});

test.each<[string, GivenJob, RegExp]>([
  ["the curve scheme", { scheme: "curve" }, /sums of the scheme curve cannot be masked/],
  ["alpha", { training: { ...small, alpha: 1 } }, /alpha/],
  ["categories", { training: { ...small, enable_categorical: true } }, /sets of categories/],
  ["large trees", { training: { max_depth: 6 } }, /63 nodes of 32 bins are more than 1024 to compare in a tree/],
  ["trees without a limit of depth", { training: { max_depth: 0, max_leaves: 64, max_bin: 32 } }, /nodes of 32 bins/],
  ["constraints", { constraints: { monotone_constraints: { income: 1 } } }, /monotone_constraints/],
  ["a setting", { privacy: { hidden_sums: false } }, /hidden_sums is turned off/],
])("with %s guarded adds noise, and says why", (_name, given, why) => {
  const form = formOf({ training: small, ...given, privacy: { privacy: "guarded", ...given.privacy } });
  expect(form).toMatchObject({ noise: 5, hides: false });
  expect(form.text).toMatch(why);
});

test("what is set beside a preset stays", () => {
  expect(formOf({ training: small, privacy: { privacy: "guarded", answer_noise: 8 } })).toEqual({
    noise: 8,
    hides: false,
    text: null,
  });
  const forced = formOf({ training: { max_depth: 6 }, privacy: { privacy: "guarded", hidden_sums: true } });
  expect(forced).toMatchObject({ noise: 0, hides: true });
});
