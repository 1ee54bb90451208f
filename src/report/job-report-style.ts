/** The style of a report: one file without scripts, to be read on a screen and on paper. */
export const reportStyle = `
:root { color-scheme: light; --line: #e0e0db; --soft: #565d68; }
* { box-sizing: border-box; }
body {
  margin: 0 auto; max-width: 1040px; padding: 32px 24px 64px; background: #fff; color: #1b1e23;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
h1 { font-size: 28px; letter-spacing: -0.015em; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 19px; margin: 36px 0 10px; padding-top: 14px; border-top: 1px solid var(--line); }
h3 { font-size: 15px; margin: 18px 0 6px; }
p { margin: 6px 0; max-width: 80ch; }
.soft { color: var(--soft); fill: var(--soft); }
.verdict { display: inline-block; padding: 2px 12px; border-radius: 999px; font-weight: 600; }
.verdict { background: #dcf1ea; color: #00664b; }
.verdict.bad { background: #fbe6dc; color: #9c2f00; }
.warning { padding: 8px 12px; border-radius: 8px; background: #fbe6dc; color: #9c2f00; }
.figures { display: flex; flex-wrap: wrap; gap: 12px 36px; margin: 18px 0; }
.figures div { display: flex; flex-direction: column; }
.figures strong { font-size: 22px; line-height: 1.2; }
.figures span { color: var(--soft); font-size: 13px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; vertical-align: top; font-weight: 400; }
th, td { padding: 5px 14px 5px 0; border-bottom: 1px solid var(--line); }
thead th { color: var(--soft); font-size: 13px; }
td:last-child, th:last-child { padding-right: 0; }
.number { text-align: right; white-space: nowrap; }
.mono { font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 8px 24px; }
figure { margin: 8px 0; break-inside: avoid; }
figcaption { font-weight: 600; font-size: 14px; margin-bottom: 4px; }
svg { display: block; width: 100%; height: auto; font-size: 14px; font-family: inherit; }
svg .soft { font-size: 13px; }
svg .strong { font-weight: 600; }
svg .on-slot { fill: #fff; font-weight: 600; font-size: 17px; }
.tree { overflow-x: auto; }
.tree svg { min-width: 720px; font-size: 13px; }
.tree svg .soft { font-size: 12px; }
dl { display: grid; grid-template-columns: repeat(auto-fill, minmax(220px, 1fr)); gap: 2px 28px; margin: 8px 0; }
dl div { display: flex; justify-content: space-between; gap: 12px; }
dl div { padding: 3px 0; border-bottom: 1px solid var(--line); }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; text-align: right; overflow-wrap: anywhere; }
.dot { display: inline-block; width: 10px; height: 10px; border-radius: 50%; margin-right: 8px; }
.one { max-width: 560px; }
figure > svg[style] { margin: 0 auto; }
@media print {
  html { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  body { padding: 0; max-width: none; font-size: 10pt; }
  h1 { font-size: 20pt; } h2 { font-size: 14pt; margin-top: 20pt; } h3 { font-size: 11pt; }
  h2, h3, figcaption, thead { break-after: avoid; }
  tr, figure, .figures, dl div, table:not(:has(tbody tr:nth-child(13))) { break-inside: avoid; }
  .parties svg { max-width: 400px !important; }
  p { orphans: 3; widows: 3; max-width: none; }
  table { font-size: 9pt; }
  thead th, .figures span, .mono { font-size: 8.5pt; }
  .figures strong { font-size: 15pt; }
  .charts { grid-template-columns: 1fr 1fr; gap: 4pt 14pt; }
  .tree, .scroll { overflow: visible; } .tree svg { min-width: 0; }
}
@page { margin: 16mm; }
`;
