/** What moves scores, as SVG: a bar per own feature and per other party, in the parties' colours. */
import { html, type Html } from "../base/text/html.ts";
import {
  contributionBars,
  type ContributionSummary,
  contributionWords,
  meansDrawn,
} from "../record/contribution-facts.ts";
import type { JobView } from "../record/job-view.ts";
import { partyColour } from "./job-pictures.ts";
import { shortened } from "./tree-layout.ts";

const [left, width, lane] = [330, 560, 26];

export function contributionPicture(view: JobView, summary: ContributionSummary): Html {
  const bars = contributionBars(summary);
  const drawn = bars.slice(0, meansDrawn);
  const more = bars.length - drawn.length;
  return html`<figure>
    <svg
      viewBox="0 0 1000 ${drawn.length * lane + 6}"
      role="img"
      aria-label="mean size of SHAP values per own feature and per other party"
    >
      ${drawn.map(({ name, party, part, words }, i) => {
        const top = i * lane + 4;
        return html`<g
          ><title>${name}: ${words}</title><text x="0" y="${top + 14}">${shortened(name, 42)}</text
          ><rect
            x="${left}"
            y="${top}"
            width="${Math.max(1, part * width)}"
            height="18"
            rx="2"
            fill="${partyColour(view, party)}"
          /><text x="${left + Math.max(1, part * width) + 8}" y="${top + 14}" class="soft">${words}</text></g
        >`;
      })}
    </svg>
    <p class="soft">
      ${contributionWords(summary)}${more === 0 ? "" : ` The ${meansDrawn} largest of ${bars.length}.`}
    </p>
  </figure>`;
}
