import { expect, test } from "vitest";
import { Progress } from "./progress.ts";

function lines() {
  let text = "";
  const screen = { write: (more: string) => void (text += more), columns: () => 80, colours: false, now: () => 0 };
  const progress = new Progress({ mode: "lines", activeName: "bank", screen });
  return { progress, text: () => text };
}

const counts = { encryptions: 0, additions: 0, decryptions: 0, gradientCiphertexts: 0, candidateCiphertexts: 0 };

test("a tree's line has every metric of training and validation rows; what is no number is a dash", () => {
  const { progress, text } = lines();
  const metrics = { auc: 0.75, logloss: 0.5 };
  const validation = { auc: Number.NaN, logloss: 0.625 };
  progress.handle({ type: "tree", party: "bank", tree: 0, treeCount: 2, metrics, validation, counts });
  expect(text()).toMatch(/^tree 1\/2 {2}train auc 0\.7500 logloss 0\.5000 {2}validation auc - logloss 0\.6250 {2}/);
});

test("a repeated notice is printed once", () => {
  const { progress, text } = lines();
  progress.handle({ type: "notice", party: "bank", words: "people.csv has something" });
  progress.handle({ type: "notice", party: "bank", words: "people.csv has something" });
  expect(text()).toBe("note: people.csv has something\n");
});
