/**
 * The report of a job: the page's views, one below the other, in one HTML file without scripts. It documents what was
 * proven and what was revealed.
 */
import type { ComponentChildren } from "preact";
import { formatCount, formatSeconds } from "../../src/base/text/format.ts";
import { partWords } from "../../src/record/evaluation/facts.ts";
import { metricNamesOf, modelTrees, rowsName, treesKept } from "../../src/record/job-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import { sentSentences } from "../../src/record/ledger-facts.ts";
import { revealedFacts } from "../../src/record/revealed.ts";
import { assumption } from "../../src/record/spending-facts.ts";
import { type OwnJobView, treeTitle, type TreeView } from "../../src/record/own-view.ts";
import type { JobViews } from "../../src/record/stored-record.ts";
import { Card, Figure, type FigureProps, Table } from "../views/card.tsx";
import { Disclosure } from "../views/disclosure.tsx";
import { Encoding } from "../views/encoding.tsx";
import { Exposure } from "../views/exposure.tsx";
import { ImportanceCards } from "../views/importance.tsx";
import { LearningCurve, LearningTable } from "../views/learning-curve.tsx";
import { Parties } from "../views/party-picture.tsx";
import { MetricsTable, ScoreCards } from "../views/quality.tsx";
import { condition } from "../views/tree-layout.ts";
import { TreePicture } from "../views/tree-picture.tsx";
import { CrewFigures } from "../views/workers.tsx";
import { htmlPage, timeText } from "./html-page.tsx";
import { EvaluationCards, EvaluationSummary } from "../views/evaluation.tsx";
import { type EvaluationTerms, usualTerms } from "../../src/record/evaluation/terms.ts";
import { JobParameters, Redone, Time } from "./job-facts.tsx";
import type { jobReport as declared } from "./reports.js";

/** Of a model of thousands of trees a report draws the first ones. */
const treesDrawn = 6;
/** A summary has one page. */
const factsInSummary = 8;

export const jobReport: typeof declared = ({ view, own }, madeAt, { withOwn = true, terms = usualTerms } = {}) =>
  htmlPage(
    `Tandem: ${view.job}, ${view.party}`,
    <>
      <Heading view={view} madeAt={madeAt} withOwn={withOwn} />
      <Summary view={view} own={shownOwn(own, withOwn)} evaluation={withOwn ? own.evaluation : null} terms={terms} />
      <Section title="Parties">
        <Parties view={view} />
        <p class="note">
          {encryption(view)} Bytes are the payload of training messages between this party and the others.
        </p>
      </Section>
      <Quality view={view} own={withOwn ? own : null} terms={terms} />
      {withOwn && <Model view={view} own={modelTrees(view, own)} />}
      <Section title="What was revealed to whom">
        <Disclosure view={view} own={shownOwn(own, withOwn)} />
      </Section>
      {withOwn && (
        <Section title="What others could infer from it (exposure)">
          <Exposure view={view} own={own} />
        </Section>
      )}
      <Section title="Parameters, versions and data">
        <JobParameters view={view} dataDigest={own.dataDigest} />
      </Section>
      <Section title="Time">
        <Time view={view} />
        <Redone view={view} />
      </Section>
      {view.crew !== null && (
        <Section title="Workers">
          <CrewFigures crew={view.crew} redone={view.roundsSoFar.redone} />
          <p class="note">
            Workers of this party held its rows in blocks. Neither their number nor their moves show in the model.
            Everything that went through the engine was encrypted.
          </p>
        </Section>
      )}
      {view.layout !== null && (
        <Section title="Encoding, and the proof that no sum overflows">
          <p class="note">
            For readers who check the encryption. The model's quality, and what was revealed, are judged without it.
          </p>
          <Encoding view={view} />
        </Section>
      )}
    </>,
  );

function Section({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="part">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

/** For readers outside of the party a consent is without its purpose. */
function shownOwn(own: OwnJobView, withOwn: boolean): OwnJobView {
  return withOwn ? own : { ...own, revealed: own.revealed.map((fact) => ({ ...fact, purpose: "" })) };
}

interface SummaryProps {
  readonly view: JobView;
  readonly own: OwnJobView;
  /** Null: none, or not for this reader. */
  readonly evaluation: OwnJobView["evaluation"];
  readonly terms: EvaluationTerms;
}

/** One page for readers who need no more. */
function Summary({ view, own, evaluation, terms }: SummaryProps) {
  const facts = revealedFacts(view, own.revealed);
  return (
    <section class="part summary">
      <h2>Summary</h2>
      {evaluation !== null && <EvaluationSummary evaluation={evaluation} terms={terms} others={listOf(view.peers)} />}
      <h3>What was revealed</h3>
      <p>{[...sentSentences(view, own.revealed), assumption(view)].join(" ")}</p>
      {facts.length > 0 && (
        <ul class="findings">
          {facts.slice(0, factsInSummary).map(({ when, learner, about, words }) => (
            <li
              key={`${when} ${learner} ${about} ${words}`}
            >{`${when}: ${learner} learned about ${about}: ${words}.`}</li>
          ))}
          {facts.length > factsInSummary && (
            <li>{`More (${facts.length - factsInSummary}) is listed below, under "What was revealed to whom".`}</li>
          )}
        </ul>
      )}
    </section>
  );
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

interface HeadingProps {
  readonly view: JobView;
  readonly madeAt: Date;
  readonly withOwn: boolean;
}

function Heading({ view, madeAt, withOwn }: HeadingProps) {
  const { job, party, role, state, failure, warning, startedAt } = view;
  return (
    <header>
      <h1 class="title">{job}</h1>
      <p class="lead">
        Federated training, as seen by {party}, the {role} party, which{" "}
        {role === "active" ? "has the labels" : "has features, and no labels"}.{" "}
        {`Started ${timeText(new Date(startedAt))}. Report made ${timeText(madeAt)}.`}
      </p>
      <p>
        <span class={`chip state-${state}`}>{state}</span>
        {failure !== null && ` ${failure.message} (${failure.code})`}
      </p>
      {warning !== null && (
        <p class="banner" role="alert">
          {warning}
        </p>
      )}
      <div class="figures">
        {figures(view).map((figure) => (
          <Figure key={figure.label} {...figure} />
        ))}
      </div>
      <p class="note">
        {withOwn
          ? `This report shows what only ${party} may see: the evaluation of the model, its own splits with their ` +
            "thresholds and categories, and what others could infer about it. 'tandem report --public' omits these."
          : `What only ${party} may see is left out: scores, its own splits, and what others could infer about it.`}
      </p>
    </header>
  );
}

function figures(view: JobView): FigureProps[] {
  const { data } = view;
  const kept = treesKept(view);
  return [
    {
      value: `${view.treesDone} of ${view.treeCount}`,
      label: kept === null ? "trees" : `trees, the best ${kept} kept`,
    },
    { value: formatSeconds((view.lastAt - view.startedAt) / 1000), label: "total time" },
    ...(data === null ? [] : [{ value: formatCount(data.trainRows), label: rowsName(view) }]),
    ...(data === null || data.testRows === 0 ? [] : [{ value: formatCount(data.testRows), label: "test rows" }]),
  ];
}

/** How messages were protected, in words. */
function encryption({ parameters, membership }: JobView): string {
  const { scheme, key_bits: bits } = parameters;
  const key = bits === undefined ? "" : ` and a key of ${bits} bits`;
  return (
    `Gradients were encrypted${scheme === undefined ? "" : ` with the scheme ${scheme}${key}`}. ` +
    "All messages travel under TLS 1.3, with certificates on both sides." +
    (membership.gradientsAreShared ? "" : " Which people are in a node of a tree was hidden from passive parties.")
  );
}

interface QualityProps {
  readonly view: JobView;
  /** Null: the evaluation is the party's own, and a public report goes without. */
  readonly own: OwnJobView | null;
  readonly terms: EvaluationTerms;
}

function Quality({ view, own, terms }: QualityProps) {
  const names = metricNamesOf(view);
  const { scores, evaluation } = own ?? { scores: null, evaluation: null };
  if (names.length === 0 && evaluation === null) return null;
  return (
    <Section title="Quality">
      <MetricsTable view={view} />
      <div class="grid">
        {names.map((name) => (
          <Card key={name} title={`${name} after each tree`}>
            <LearningCurve view={view} name={name} />
          </Card>
        ))}
        {scores !== null && <ScoreCards scores={scores} of={partWords[evaluation?.shown ?? "test"]} />}
        {evaluation !== null && <EvaluationCards evaluation={evaluation} terms={terms} />}
      </div>
      <LearningTable view={view} summary="All metrics after each tree, as a table" />
    </Section>
  );
}

/** @param own of the trees that are in the model */
function Model({ view, own }: JobViews) {
  if (own.trees.size === 0) return null;
  const trees = [...own.trees.values()].sort((a, b) => a.tree - b.tree);
  const whole = trees.filter(({ kind }) => kind === "whole");
  return (
    <Section title={`The model, as ${view.party} may see it`}>
      <ImportanceCards view={view} own={own} />
      <OwnSplits trees={trees} />
      {whole.length > 0 && (
        <p class="note">
          Every box asks a question about a person: yes leads to the left, no to the right. A box with a lock is a split
          of another party, which alone knows its feature and threshold. Whole numbers are training rows. The last line
          of a tree is what it adds to the score of its people, before the objective's link function: for two classes,
          to the log-odds of label 1.
        </p>
      )}
      {whole.slice(0, treesDrawn).map((tree) => (
        <Card key={tree.tree} title={treeTitle(own, tree.tree)} wide>
          <TreePicture view={view} tree={tree} />
        </Card>
      ))}
      {whole.length > treesDrawn && <p class="note">The model has {whole.length - treesDrawn} more trees.</p>}
    </Section>
  );
}

function OwnSplits({ trees }: { readonly trees: readonly TreeView[] }) {
  const rows = trees.flatMap((tree) =>
    tree.kind === "own-splits"
      ? tree.splits.map((split) => [
          String(tree.tree + 1),
          String(split.node),
          split.featureName,
          condition(split),
          split.defaultLeft ? "left" : "right",
        ])
      : [],
  );
  if (rows.length === 0) return null;
  return (
    <Card title="Own splits" wide>
      <Table
        caption="Own splits"
        head={["tree", "node", "feature", "goes left if", "missing goes"]}
        rows={rows}
        textColumns={5}
      />
    </Card>
  );
}
