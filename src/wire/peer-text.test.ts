import { expect, test } from "vitest";
import { peerText } from "./peer-text.ts";

test("control characters become spaces; the length is bounded", () => {
  expect(peerText("plain text, ümläut, 数")).toBe("plain text, ümläut, 数");
  expect(peerText("a\u001b[2Jb\nc\u202Ed\u2028e\u0000f")).toBe("a [2Jb c d e f");
  expect(peerText("x".repeat(501))).toBe(`${"x".repeat(500)}...`);
  expect(peerText("x".repeat(500))).toBe("x".repeat(500));
  expect(peerText("\u0000".repeat(1e6)).length).toBeLessThan(510);
});
