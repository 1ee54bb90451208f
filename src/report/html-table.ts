/** A table of a report. */
import { Html, html, type HtmlValue } from "../base/text/html.ts";

/** The first column names its row; the ones after `textColumns` hold numbers. */
export function htmlTable(head: readonly string[], rows: readonly (readonly HtmlValue[])[], textColumns = 1): Html {
  const kind = (i: number): Html => new Html(i < textColumns ? "" : ' class="number"');
  return html`<div class="scroll">
    <table>
      <thead>
        <tr>
          ${head.map((cell, i) => html`<th scope="col" ${kind(i)}>${cell}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, i) => (i === 0 ? html`<th scope="row">${cell}</th>` : html`<td${kind(i)}>${cell}</td>`))}
            </tr> `,
        )}
      </tbody>
    </table>
  </div>`;
}
