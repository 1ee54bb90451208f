/** A scorer whose scores, and own features of the people who got one, count for the drift. */
import type { Scorer } from "../scorer.ts";
import type { Scores, ScoringOptions, ScoringRows } from "../scoring-question.ts";
import { isWholeScore, predictionWanted } from "../wanted.ts";
import type { DriftNotes } from "./drift-notes.ts";
import type { ScoredPeople } from "./drift-meter.ts";

export class CountedScorer {
  readonly #scorer: Scorer;
  readonly #notes: DriftNotes;

  constructor(scorer: Scorer, notes: DriftNotes) {
    this.#scorer = scorer;
    this.#notes = notes;
  }

  async score(rows: ScoringRows, options: ScoringOptions): Promise<Scores> {
    const scores = await this.#scorer.score(rows, options);
    if (!isWholeScore(options.wanted ?? predictionWanted)) return scores;
    const scored = [...rows.ids.keys()].filter((row) => options.unknownAsMissing || !scores.unknown.has(row));
    this.#notes.see(activePeople(this.#scorer, rows.columns, scores.predictions, scored));
    return scores;
  }
}

/** The active party's own columns of these rows, and their predictions. */
export function activePeople(
  { features, categoryNames }: Pick<Scorer, "features" | "categoryNames">,
  columns: readonly Float32Array[],
  scores: Float64Array,
  rows: ArrayLike<number>,
): ScoredPeople {
  return {
    rows,
    scores,
    column: (name) => {
      const place = features.indexOf(name);
      return { values: columns[place], names: categoryNames[place] };
    },
  };
}
