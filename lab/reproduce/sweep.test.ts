import { describe, expect, it } from "vitest";
import { measuredTrials } from "../../test/support/measured-trials.ts";
import { ablationOutcome } from "./ablation.ts";
import { keysOutcome } from "./keys.ts";
import { MeasuredTrials } from "../trials/measured-trials.ts";
import { roundsOutcome } from "./rounds.ts";
import { samplesOutcome } from "./samples.ts";
import { scales } from "./scale.ts";

const scale = scales.full;

describe("a sweep's tables", () => {
  const { tables, figures } = keysOutcome(scale, measuredTrials(scale));

  it("set the paper's value, ours and the difference side by side", () => {
    const [accuracy] = tables;
    expect(accuracy.columns.slice(2, 5)).toEqual(
      ["paper", "ours", "difference"].map((title) => ({ group: "AUC train", title })),
    );
    expect(accuracy.rows[0].slice(0, 8)).toEqual([
      "128",
      "SecureBoost",
      "0.7900",
      "0.8000",
      "+0.0100",
      "0.7880",
      "0.7802",
      "-0.0078",
    ]);
    expect(accuracy.rows).toHaveLength(12);
    expect(accuracy.rows[11].slice(0, 5)).toEqual(["3,072", "Proposed", "", "0.8000", ""]);
    expect(accuracy.notes[0]).toContain("2^-36");
  });

  it("show time as fractions with their distance from the paper's range", () => {
    expect(tables[1].rows[3]).toEqual([
      "1,024",
      "100",
      "60.0",
      "60.0%",
      "55-75%",
      "within",
      "2.00",
      "1.10",
      "55.0%",
      "50-60%",
      "within",
      "200",
      "100",
      "50.0%",
      "1",
    ]);
    const slow = keysOutcome(
      scale,
      measuredTrials(scale, (repeat, { codec }) => ({
        repeat: codec === "batched" ? { ...repeat, totalSeconds: 80, secondsPerTree: 0.9 } : repeat,
      })),
    );
    expect(slow.tables[1].rows[3].slice(3, 11)).toEqual([
      "80.0%",
      "55-75%",
      "+5.0 pp",
      "2.00",
      "0.900",
      "45.0%",
      "50-60%",
      "-5.0 pp",
    ]);
  });

  it("have the paper's key lengths in one figure and longer ones in another, with percentages over the bars", () => {
    expect(
      figures.map(({ name, panels }) => [
        name,
        panels.map((panel) => (panel.kind === "bars" ? [panel.categories, panel.labels] : [])),
      ]),
    ).toEqual([
      [
        "keys-time",
        [
          [
            ["128", "256", "512", "1,024"],
            ["60%", "60%", "60%", "60%"],
          ],
          [
            ["128", "256", "512", "1,024"],
            ["55%", "55%", "55%", "55%"],
          ],
        ],
      ],
      [
        "keys-longer-time",
        [
          [
            ["2,048", "3,072"],
            ["60%", "60%"],
          ],
          [
            ["2,048", "3,072"],
            ["55%", "55%"],
          ],
        ],
      ],
    ]);
  });
});

describe("what is said", () => {
  it("agrees where the numbers do", () => {
    const { paragraph } = keysOutcome(scale, measuredTrials(scale));
    expect(paragraph).toContain("differs by at most 0.00010 and the KS by at most 0.00100");
    expect(paragraph).toContain("This confirms that the coarse slots cost no relevant accuracy");
    expect(paragraph).toContain("6 of 6 points within");
    expect(paragraph).toContain("Our model is the same, bit for bit, at every key length");
  });

  it("disagrees where they do not", () => {
    const doctored = measuredTrials(scale, (repeat, { codec }) => ({
      repeat:
        codec === "batched"
          ? { ...repeat, totalSeconds: 99, metrics: { ...repeat.metrics, test: { auc: 0.7, ks: 0.3 } } }
          : repeat,
    }));
    const { paragraph } = samplesOutcome(scale, doctored);
    expect(paragraph).toContain("Our differences exceed the tolerances of 0.002 and 0.01");
    expect(paragraph).toContain("not close");
    expect(paragraph).toContain("99.0% to 99.0% of the total time (the paper: 55-75%; 0 of 3 points within)");
  });

  it("admits that nothing finished", () => {
    expect(roundsOutcome(scale, new MeasuredTrials()).paragraph).toBe("Nothing of this experiment finished.");
    expect(ablationOutcome(scale, new MeasuredTrials()).paragraph).toContain("was not run");
  });
});

describe("the ablation", () => {
  it("says what each shortcut costs to leave out, and whether the paper's fractions hold", () => {
    const trials = measuredTrials(scale, (repeat, { without }) => ({
      repeat: without === "no-packing" ? { ...repeat, secondsPerTree: 2.2 } : repeat,
    }));
    const { paragraph, tables } = ablationOutcome(scale, trials);
    expect(tables[0].rows[1].slice(0, 3)).toEqual(["packing", "2.20", "2.00"]);
    expect(paragraph).toContain("2.00 times as long without packing");
    expect(paragraph).toContain("all within the paper's 50-60%");
  });

  it("fails if a shortcut changes the model", () => {
    const trials = measuredTrials(scale, (repeat, { without }) => ({
      repeat: without === "no-joint-bins" ? { ...repeat, model: "another" } : repeat,
    }));
    expect(() => ablationOutcome(scale, trials)).toThrow("no-joint-bins changes the model");
  });
});
