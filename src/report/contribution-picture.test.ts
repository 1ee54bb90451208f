import { expect, test } from "vitest";
import { emptyJobView } from "../record/job-view.ts";
import { contributionPicture } from "./contribution-picture.ts";

const means = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ feature: `column <${i}>`, party: "bank", mean: 1 / (i + 1) }));

test("a bar per mean, the largest first and as long as the picture has room, names as text", () => {
  const summary = { people: 7, outputs: 1, isByParty: false, means: means(3).toReversed() };
  const picture = contributionPicture(emptyJobView(), summary).text.replaceAll(/\s+/g, " ");
  expect(picture.match(/<rect/g)).toHaveLength(3);
  expect([...picture.matchAll(/ width="([\d.]+)" height="18"/g)].map(([, wide]) => Number(wide))).toEqual([
    560,
    280,
    expect.closeTo(186.67, 1),
  ]);
  expect(picture).toContain("column &lt;0&gt;: 1</title>");
  expect(picture).not.toContain("column <0>");
  expect(picture).toContain("over the 7 people who were explained last");
});

test("of many the largest are drawn, and it is said that there are more", () => {
  const summary = { people: 7, outputs: 1, isByParty: false, means: means(40) };
  const picture = contributionPicture(emptyJobView(), summary).text;
  expect(picture.match(/<rect/g)).toHaveLength(30);
  expect(picture).toContain("The 30 largest of 40.");
});
