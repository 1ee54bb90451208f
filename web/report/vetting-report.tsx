/** The page of a vetting: what each column is worth by itself, and its bins. One HTML file without scripts. */
import { formatCount } from "../../src/base/text/format.ts";
import { percentText } from "../../src/record/evaluation/facts.ts";
import { cellText } from "../../src/record/evaluation/table.ts";
import { binTable, columnTable, ivWords, stabilityWords, vettingSentences } from "../../src/record/vetting/tables.ts";
import { columnTitle, type VettedColumn, type Vetting } from "../../src/record/vetting/vetting.ts";
import { Card, CellBar, Figure, Table } from "../views/card.tsx";
import { htmlPage, timeText } from "./html-page.tsx";
import type { vettingReport as declared } from "./reports.js";

/** Bins are shown of this many columns; --csv has all. */
const detailedMax = 60;

export const vettingReport: typeof declared = (vetting, madeAt) => {
  const { columns, others, party, label, job } = vetting;
  return htmlPage(
    `Tandem: ${job}`,
    <>
      <header>
        <h1 class="title">{job}</h1>
        <p class="lead">
          {others.length === 0
            ? `What each column of a table is worth by itself for the label '${label}'. `
            : `What each column of ${[party, ...others].join(" and ")} is worth by itself ` +
              `for ${party}'s label '${label}'. ` +
              `Only ${party} sees this. `}
          {`Made ${timeText(madeAt)}.`}
        </p>
        <Figures vetting={vetting} />
      </header>
      <section class="part summary">
        <h2>Summary</h2>
        <ul class="findings">
          {vettingSentences(vetting).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </section>
      <section class="part">
        <h2>Columns</h2>
        <p class="note">{columnTable(vetting).about}</p>
        <Columns vetting={vetting} />
      </section>
      <section class="part">
        <h2>Bins of each column</h2>
        <p class="note">
          {`${binTable([]).about} The bins of a number ascend`}
          {others.length === 0 ? "." : "; other parties send neither bounds nor names of categories."}
          {columns.length > detailedMax && ` Shown are the first ${detailedMax} columns; the option --csv writes all.`}
        </p>
        <div class="grid">
          {columns.slice(0, detailedMax).map((column) => (
            <Card key={columnTitle(column)} title={columnTitle(column)} wide>
              <Bins column={column} />
            </Card>
          ))}
        </div>
      </section>
    </>,
  );
};

function Figures({ vetting: { people, events, columns, others, noise } }: { readonly vetting: Vetting }) {
  return (
    <div class="figures">
      <Figure value={formatCount(people)} label={others.length === 0 ? "people" : "people common to all parties"} />
      <Figure value={percentText(events / people)} label="of them with label 1" />
      <Figure value={formatCount(columns.length)} label="columns" />
      {noise > 0 && (
        <Figure value={String(noise)} label="people: standard deviation of the noise in other parties' sums" />
      )}
    </div>
  );
}

function Columns({ vetting }: { readonly vetting: Vetting }) {
  const table = columnTable(vetting);
  const most = Math.max(0.02, ...vetting.columns.map(({ iv, ivBias }) => iv - ivBias));
  const texts = table.columns.findIndex(({ name }) => name === "information value");
  const heads = table.columns.map(({ name }) => name);
  return (
    <Table
      caption={table.title}
      head={[...heads.slice(0, texts), "", ...heads.slice(texts)]}
      textColumns={texts + 1}
      rows={table.rows.map((row, i) => {
        const cells = row.map((cell, at) => cellText(cell, table.columns[at]));
        const { iv, ivBias } = vetting.columns[i];
        const part = Math.max(0, iv - ivBias) / most;
        const bar = <CellBar part={part} colour="var(--party-active)" />;
        return [...cells.slice(0, texts), bar, ...cells.slice(texts)];
      })}
    />
  );
}

function Bins({ column }: { readonly column: VettedColumn }) {
  const table = binTable([column]);
  const most = Math.max(1e-9, ...column.bins.map(({ woe }) => Math.abs(woe)));
  const heads = table.columns.map(({ name }) => name).slice(2);
  return (
    <>
      <p class="note">
        {`Strength: ${ivWords(column.iv - column.ivBias)}.`}
        {column.stability !== null &&
          ` Distribution among common people against the party's other people: ${stabilityWords(column)}.`}
      </p>
      <Table
        caption={columnTitle(column)}
        head={[heads[0], "label 1 is rarer (left) or more frequent (right)", ...heads.slice(1)]}
        textColumns={2}
        rows={table.rows.map((row, i) => {
          const [bin, ...figures] = row.slice(2).map((cell, at) => cellText(cell, table.columns[at + 2]));
          const { woe } = column.bins[i];
          return [bin, <SignedBar part={woe / most} />, ...figures];
        })}
      />
    </>
  );
}

/** From the middle to the left or to the right. @param part from -1 to 1 */
function SignedBar({ part }: { readonly part: number }) {
  const [width, from] = [50 * Math.abs(part), 50 + 50 * Math.min(0, part)];
  return (
    <span class="signed-bar" aria-hidden="true">
      <span class={part < 0 ? "below" : ""} style={{ left: `${from.toFixed(2)}%`, width: `${width.toFixed(2)}%` }} />
    </span>
  );
}
