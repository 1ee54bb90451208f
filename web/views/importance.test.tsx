import { renderToStaticMarkup } from "preact-render-to-string";
import { expect, test } from "vitest";
import { emptyJobView } from "../../src/record/job-view.ts";
import { Contributions } from "./importance.tsx";

test("what moves scores: a bar per mean, the largest first and the longest, names as text", () => {
  const means = [1, 2, 3].map((i) => ({ feature: `column <${i}>`, party: "bank", mean: 1 / i })).toReversed();
  const summary = { people: 7, outputs: 1, isByParty: false, means };
  const picture = renderToStaticMarkup(<Contributions view={emptyJobView()} summary={summary} />);
  expect([...picture.matchAll(/width:([\d.]+)%/g)].map(([, wide]) => Number(wide))).toEqual([100, 50, 33.33]);
  expect(picture).toMatch(/column &lt;1>.*column &lt;2>.*column &lt;3>/);
  expect(picture).not.toContain("column <1>");
  expect(picture).toContain("over the 7 people who were explained last");
});
