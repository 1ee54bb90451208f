import { expect, test } from "vitest";
import { answerTo, TermsQuestion } from "./terms-exchange.ts";

const terms = Uint8Array.from({ length: 40 }, (_, i) => i);

test("an answer is for one question, one epoch and one worker", () => {
  const [asked, other] = [new TermsQuestion(), new TermsQuestion()];
  const answer = answerTo(asked.publicKey, "e1", "terms.w1", terms);
  expect([...(asked.open("e1", "terms.w1", answer) ?? [])]).toEqual([...terms]);
  expect(other.open("e1", "terms.w1", answer)).toBeNull();
  expect(asked.open("e2", "terms.w1", answer)).toBeNull();
  expect(asked.open("e1", "terms.w2", answer)).toBeNull();
  const { publicKey } = answerTo(asked.publicKey, "e1", "terms.w1", terms);
  expect(asked.open("e1", "terms.w1", { ...answer, publicKey }), "another answer's key").toBeNull();
  expect(asked.open("e1", "terms.w1", { ...answer, publicKey: Uint8Array.of(1) }), "no key").toBeNull();
});

test("no two answers are equal, and none reveals the terms", () => {
  const asked = new TermsQuestion();
  const [one, two] = [1, 2].map(() => answerTo(asked.publicKey, "e1", "terms.w1", terms));
  expect([...one.publicKey]).not.toEqual([...two.publicKey]);
  expect(Buffer.from(one.box).includes(Buffer.from(terms.subarray(0, 16)))).toBe(false);
  expect(() => answerTo(new Uint8Array(44), "e1", "terms.w1", terms)).toThrow(/asn1|DECODER|unsupported/i);
});
