/** A bar per column, in bits: what split outcomes, sums and scoring reveal, and what is left. */
import type { Exposure } from "../../src/record/exposure.ts";
import {
  columnHead,
  columnRows,
  columnWords,
  exposureKinds,
  isRevealed,
  kindWords,
  staysHidden,
  toldWords,
} from "../../src/record/exposure-facts.ts";
import { Behind, Table } from "./card.tsx";
import { barsMax, placeBars } from "./exposure-layout.ts";

export function ExposureBars({ exposure }: { readonly exposure: Exposure }) {
  const { people } = exposure;
  const columns = exposure.columns.filter(isRevealed);
  const hidden = exposure.columns.length - columns.length;
  return (
    <>
      <div aria-hidden="true">
        <p class="revealed-legend">
          {exposureKinds.map((kind) => (
            <span key={kind}>
              <span class={`revealed revealed-${kind}`} /> {kindWords[kind]}
            </span>
          ))}
        </p>
        {placeBars(columns).map(({ column, parts }) => (
          <div key={column.name} class="revealed-lane" title={columnWords(column, people)}>
            <span class="revealed-name">{column.name}</span>
            <span class="revealed-track">
              {parts.map(({ kind, from, to }) => (
                <span key={kind} class={`revealed revealed-${kind}`} style={{ width: `${(to - from) * 100}%` }} />
              ))}
            </span>
            <span class="revealed-bits">{toldWords(column)}</span>
          </div>
        ))}
      </div>
      {columns.length > barsMax && <p class="note">{`The ${barsMax} most exposed of ${columns.length} columns.`}</p>}
      <p class="note">
        {hidden > 0 && `Of ${hidden === 1 ? "one more column" : `${hidden} more columns`} nothing is revealed. `}
        {staysHidden}
      </p>
      <Behind
        table={() => <Table caption="What is revealed of each column" head={columnHead} rows={columnRows(exposure)} />}
      />
    </>
  );
}
