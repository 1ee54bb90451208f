/** The form of each line of transcript.jsonl as it is read back; see event-shapes.ts. */
import { byField, count, countUpTo, flag, listOf, literal, number, objectOf, orNull, text } from "../base/shape.ts";

/** As many people as can be aligned, bins of 16 bits, trees as deep as XGBoost's heap numbers go. */
const people = countUpTo(2 ** 26);
const node = countUpTo(2 ** 31);
const tree = countUpTo(2 ** 31);

export const hasTranscriptShape = byField(
  "kind",
  {
    job: objectOf(
      {
        format: text,
        party: text,
        role: literal("active", "passive"),
        job: text,
        people,
        depthMax: countUpTo(64),
        outputs: countUpTo(2 ** 16),
        answerNoise: number,
        resolutionBits: number,
        maskedScoring: flag,
        takesAllColumns: flag,
      },
      { hidesMembers: flag },
    ),
    columns: objectOf({
      columns: listOf(
        objectOf({
          name: text,
          binCount: countUpTo(2 ** 16),
          hasMissing: flag,
          oneHot: orNull(flag),
          monotone: literal(-1, 0, 1),
          bins: text,
        }),
      ),
    }),
    tree: objectOf({ peer: text, tree, sampled: text }),
    node: objectOf({ peer: text, tree, node, parent: node, sibling: node, members: text }),
    asked: objectOf({ peer: text, tree, node }),
    outcome: objectOf({ peer: text, tree, node, left: text }),
    split: objectOf({ tree, node, feature: count, left: text }),
    people: objectOf({ labels: text, scores: text }),
  },
  "allowed",
);
