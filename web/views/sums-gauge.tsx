/** Exact sums per person on a scale from little to all, with the policy's limit. */
import { formatPerPerson } from "../../src/base/text/format.ts";
import type { SumsSpent } from "../../src/record/spending-facts.ts";
import { placeGauge } from "./exposure-layout.ts";

export function SumsGauge({ spent }: { readonly spent: SumsSpent }) {
  const { title, sumsPerPerson, openedPerPerson, limit } = spent;
  // Opened candidates use the same limit, and are not in the bar.
  const room = limit === null ? null : Math.max(0, limit - openedPerPerson);
  const { at, isBeyond, marks, limitAt } = placeGauge(sumsPerPerson, room);
  const limitWords =
    room === null ? "" : `your limit ${openedPerPerson === 0 ? "" : "leaves "}${formatPerPerson(room)}`;
  const marksWords = marks.map(({ value, word }) => `${word} at ${value}`).join(", ");
  const label = [`${title}: ${formatPerPerson(sumsPerPerson)}`, marksWords, ...(limit === null ? [] : [limitWords])];
  return (
    <div class="gauge" role="img" aria-label={label.join("; ")}>
      <div class="gauge-track">
        <span class={isBeyond ? "gauge-bar beyond" : "gauge-bar"} style={{ width: `${at * 100}%` }} />
        {marks.map(({ at: place, value, word }) => (
          <span key={word} class="gauge-mark" style={{ left: `${place * 100}%` }}>
            <span class="gauge-word">
              {value}
              <br />
              {word}
            </span>
          </span>
        ))}
        {limitAt !== null && (
          <span class="gauge-mark gauge-limit" style={{ left: `${limitAt * 100}%` }}>
            <span class={limitAt > 0.7 ? "gauge-word before" : "gauge-word"}>{limitWords}</span>
          </span>
        )}
      </div>
    </div>
  );
}
