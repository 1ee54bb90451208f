import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { confirm } from "./confirm.ts";

async function answer(text: string): Promise<{ agreed: boolean; asked: string }> {
  const input = new PassThrough();
  const output = new PassThrough();
  const agreed = confirm("Hand it out?", { input, output });
  input.end(text);
  return { agreed: await agreed, asked: String(output.read()) };
}

test.each([
  ["yes\n", true],
  [" YES \r\n", true],
  ["yes", false],
  ["y\n", false],
  ["yes please\n", false],
  ["no\nyes\n", false],
  ["\n", false],
  ["", false],
])("%j: %s", async (text, wanted) => {
  const { agreed, asked } = await answer(text);
  expect(agreed).toBe(wanted);
  expect(asked).toContain("Hand it out?");
});
