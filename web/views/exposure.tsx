/** What the others could compute of this party's columns or labels, what they have had so far, and what lowers it. */
import { recordedMembership } from "../../src/record/membership.ts";
import { formatPerPerson } from "../../src/base/text/format.ts";
import { settingHead, settingRows, whatIfTable, whatIfTitle } from "../../src/record/defence-facts.ts";
import type { Exposure as Finding } from "../../src/record/exposure.ts";
import {
  auditCommand,
  columnSentences,
  exposureLead,
  exposureTotals,
  hiddenLabelSentence,
  labelSentences,
  ownExposures,
} from "../../src/record/exposure-facts.ts";
import type { JobView } from "../../src/record/job-view.ts";
import type { JobViews } from "../../src/record/stored-record.ts";
import {
  alarmSentences,
  dailySpending,
  otherSpending,
  sumsSentences,
  sumsSpent,
} from "../../src/record/spending-facts.ts";
import { Card, CellBar, Lead, Nothing, Table } from "./card.tsx";
import { ExposureBars } from "./exposure-bars.tsx";
import { LabelCurve } from "./label-curve.tsx";
import { SumsGauge } from "./sums-gauge.tsx";

export function Exposure({ view, own }: JobViews) {
  const exposures = ownExposures(view, own);
  return (
    <>
      <Lead sentences={exposureLead(view, exposures)} />
      <Alarms view={view} />
      <div class="grid">
        {exposures.length === 0 ? (
          <>
            <Card title={view.role === "active" ? "Your labels" : "Your columns"} wide>
              <Nothing>
                No audit of this job yet. Run <code>{auditCommand}</code>.
              </Nothing>
            </Card>
            <Spent view={view} exposures={exposures} />
            <Settings view={view} />
          </>
        ) : (
          <>
            {exposures.map((exposure) => (
              <Findings key={exposure.learner} exposure={exposure} />
            ))}
            <div class="stack">
              <Spent view={view} exposures={exposures} />
              <Settings view={view} />
            </div>
            <WhatIf exposures={exposures} />
          </>
        )}
      </div>
    </>
  );
}

function Alarms({ view }: { readonly view: JobView }) {
  const alarms = alarmSentences(view);
  if (alarms.length === 0) return null;
  return (
    <Card title="Alarms" wide>
      <ul role="alert">
        {alarms.map((words) => (
          <li key={words}>{words}</li>
        ))}
      </ul>
    </Card>
  );
}

function Findings({ exposure }: { readonly exposure: Finding }) {
  const { columns, labels, learner } = exposure;
  return (
    <>
      {columns.length > 0 && (
        <Card title={`What ${learner} could compute of your columns`}>
          <Sentences of={columnSentences(exposure)} />
          <ExposureBars exposure={exposure} />
        </Card>
      )}
      {!recordedMembership(exposure).membersAreSent && columns.length === 0 && labels === null && (
        <Card title={`What ${learner} could guess of your labels`}>
          <Sentences of={[hiddenLabelSentence(learner)]} />
        </Card>
      )}
      {labels !== null && (
        <Card title={`What ${learner} could guess of your labels`}>
          <Sentences of={labelSentences(learner, labels)} />
          <LabelCurve learner={learner} labels={labels} />
        </Card>
      )}
    </>
  );
}

/** The first says what it is about, or how sure. */
function Sentences({ of: [first, ...others] }: { readonly of: readonly string[] }) {
  return (
    <p class="said">
      <strong>{first}</strong> {others.join(" ")}
    </p>
  );
}

function Spent({ view, exposures }: { readonly view: JobView; readonly exposures: readonly Finding[] }) {
  const spent = sumsSpent(view, exposures);
  if (spent === null) return null;
  const audited = exposures.find(({ columns }) => columns.length > 0);
  const bits = audited === undefined ? null : exposureTotals(audited.columns).bits;
  const others = [...otherSpending(view, bits), ...dailySpending(view)];
  return (
    <Card title={spent.title} aside={<span class="figure-value">{formatPerPerson(spent.sumsPerPerson)}</span>}>
      <Sentences of={sumsSentences(spent)} />
      <SumsGauge spent={spent} />
      {others.length > 0 && (
        <Table
          caption="What else the partner has had"
          stacks
          head={["what else it has had", "how much", "compared with"]}
          textColumns={3}
          rows={others.map(({ what, used, scale, part }) => [
            what,
            used,
            <>
              {scale}
              {part !== null && <CellBar part={part} colour="var(--revealed-sums)" framed />}
            </>,
          ])}
        />
      )}
    </Card>
  );
}

function Settings({ view }: { readonly view: JobView }) {
  return (
    <Card title="What lowers it">
      <Table caption="Settings that lower it" head={settingHead} textColumns={3} rows={settingRows(view)} />
    </Card>
  );
}

/** Of the last audit that trained again with each of them. */
function WhatIf({ exposures }: { readonly exposures: readonly Finding[] }) {
  const tried = exposures.filter(({ whatIf }) => whatIf.length > 0);
  return (
    <>
      {tried.map(({ learner, whatIf, columns }) => {
        const title = whatIfTitle(learner, tried.length > 1);
        return (
          <Card key={learner} title={title} wide>
            <Table caption={title} stacks {...whatIfTable(whatIf, exposureTotals(columns).bits)} />
          </Card>
        );
      })}
    </>
  );
}
