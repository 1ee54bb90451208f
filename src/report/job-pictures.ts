/**
 * The diagrams of a report as SVG: the parties, the bit layout, the phases of a tree, the trees. Plots are
 * job-charts.ts's.
 */
import { formatBytes, formatSeconds } from "../base/text/format.ts";
import type { LayoutSummary, PhaseSpan } from "../record/events/training-events.ts";
import { phases } from "../protocol/phase.ts";
import { html, type Html } from "../base/text/html.ts";
import type { TreeView } from "../record/own-view.ts";
import { placeArrow, type PlacedArrow, placeParties } from "./party-layout.ts";
import { bitFields, holdingOf, phaseWords } from "../record/job-facts.ts";
import type { JobView } from "../record/job-view.ts";
import { nodeLines, placeTree, shortened, splitWords, treeBox } from "./tree-layout.ts";

const passiveColours = ["#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#B8A800"];

/** Okabe and Ito's palette; the active party is blue. */
export function partyColour(view: JobView, name: string): string {
  const index = view.parties.filter(({ role }) => role === "passive").findIndex((party) => party.name === name);
  return index === -1 ? "#0072B2" : passiveColours[index % passiveColours.length];
}

/** Who took part, what each brought along, and the bytes that went each way. */
export function partiesPicture(view: JobView): Html {
  const active = view.parties.find(({ role }) => role === "active");
  const passives = view.parties.filter(({ role }) => role === "passive");
  if (active === undefined || passives.length === 0) return html``;
  const { size, box, centre, around } = placeParties(passives.length, "wide");
  const links = passives.map((party, i) => [
    arrow(placeArrow(centre, around[i], box), partyColour(view, active.name), formatBytes(party.receivedBytes)),
    arrow(placeArrow(around[i], centre, box), partyColour(view, party.name), formatBytes(party.sentBytes)),
  ]);
  const boxes = [{ party: active, at: centre }, ...passives.map((party, i) => ({ party, at: around[i] }))].map(
    ({ party, at }) => {
      const [left, top] = [at.x - box.width / 2, at.y - box.height / 2];
      const colour = partyColour(view, party.name);
      return html`<rect
          x="${left}"
          y="${top}"
          width="${box.width}"
          height="${box.height}"
          rx="10"
          fill="#f6f6f3"
          stroke="${colour}"
          stroke-width="1.5"
        /><rect x="${left}" y="${top}" width="6" height="${box.height}" rx="3" fill="${colour}" />
        <text x="${left + 18}" y="${top + 25}" class="strong">${shortened(party.name, 18)}</text
        ><text x="${left + 18}" y="${top + 46}">${party.role} party</text
        ><text x="${left + 18}" y="${top + 66}" class="soft">${holdingOf(view, party)}</text>`;
    },
  );
  return html`<svg
    viewBox="0 0 ${size.width} ${size.height}"
    style="max-width:${size.width}px"
    role="img"
    aria-label="the parties and the bytes between them"
  >
    ${links}${boxes}
  </svg>`;
}

function arrow({ from, to, head, label }: PlacedArrow, colour: string, text: string): Html {
  return html`<line x1="${from.x}" y1="${from.y}" x2="${to.x}" y2="${to.y}" stroke="${colour}" stroke-width="2" /><path
      d="${head}"
      fill="${colour}"
    /><text x="${label.x}" y="${label.y}" text-anchor="${label.anchor}" class="soft">${text}</text>`;
}

export function bitLayoutPicture(layout: LayoutSummary): Html {
  const fields = bitFields(layout);
  const total = fields.reduce((sum, { bits }) => sum + bits, 0);
  const width = 1000;
  let at = 0;
  const drawn = fields.map(({ kind, name, bits }) => {
    const x = (at / total) * width;
    const w = (bits / total) * width;
    const high = total - at - 1;
    at += bits;
    const colour = kind === "padding" ? "#D55E00" : name.startsWith("g") ? "#0072B2" : "#009E73";
    const label =
      kind === "padding"
        ? html`<text x="${x + 2}" y="20" class="soft">${bits} guard</text>`
        : html`<text x="${x + w / 2}" y="57" text-anchor="middle" class="on-slot">${name}: ${bits} bits</text>`;
    return html`<rect x="${x}" y="30" width="${w}" height="44" fill="${colour}" />${label}<text
        x="${x + 2}"
        y="94"
        class="soft"
        >${high}</text
      >`;
  });
  return html`<svg viewBox="0 0 ${width} 104" role="img" aria-label="bit layout of one person's plaintext">
    ${drawn}
    <text x="${width - 2}" y="94" text-anchor="end" class="soft">0</text>
  </svg>`;
}

export function phasesPicture(view: JobView, spans: readonly PhaseSpan[]): Html {
  const from = Math.min(...spans.map((span) => span.from));
  const to = Math.max(...spans.map((span) => span.to), from + 1);
  const [left, width, lane] = [285, 645, 22];
  const lines = view.parties.flatMap(({ name }) =>
    phases.flatMap((phase) => {
      const own = spans.filter((span) => span.party === name && span.phase === phase);
      return own.length === 0
        ? []
        : [{ name, phase, own, total: own.reduce((sum, span) => sum + span.to - span.from, 0) }];
    }),
  );
  const height = lines.length * lane + 24;
  const bar = (at: number, line: number, length: number, colour: string): Html =>
    html`<rect
      x="${at}"
      y="${line * lane + 3}"
      width="${Math.max(1.5, length)}"
      height="15"
      rx="2"
      fill="${colour}"
    />`;
  const x = (time: number): number => left + ((time - from) / (to - from)) * width;
  return html`<svg viewBox="0 0 1000 ${height}" role="img" aria-label="phases of one tree, per party">
    ${lines.map(
      ({ name, phase, own, total }, i) =>
        html`<text x="0" y="${i * lane + 15}">${shortened(name, 16)}</text
          ><text x="140" y="${i * lane + 15}" class="soft">${phaseWords[phase]}</text>
          ${bar(left, i, width, "#f0f0ec")}
          ${own.map((span) => bar(x(span.from), i, x(span.to) - x(span.from), partyColour(view, name)))}
          <text x="1000" y="${i * lane + 15}" text-anchor="end" class="soft">${formatSeconds(total / 1000)}</text>`,
    )}
    <text x="${left}" y="${height - 6}" class="soft">0 s</text>
    <text x="${left + width}" y="${height - 6}" text-anchor="end" class="soft">
      ${formatSeconds((to - from) / 1000)}
    </text>
  </svg>`;
}

export function treePicture(view: JobView, tree: Extract<TreeView, { kind: "whole" }>): Html {
  const { width, height, nodes } = placeTree(tree.nodes);
  const at = new Map(nodes.map((node) => [node.id, node]));
  const branches = nodes.flatMap(({ node, x, y }) => {
    if (node.kind === "leaf") return [];
    return [node.left, node.right].map((child, side) => {
      const to = at.get(child);
      const [toX, toY] = [to?.x ?? x, to?.y ?? y];
      const middle = (y + treeBox.height + toY) / 2;
      return html`<path
          d="M${x} ${y + treeBox.height} C${x} ${middle}, ${toX} ${middle}, ${toX} ${toY}"
          fill="none"
          stroke="#8a8f98"
        /><text
          x="${(x + toX) / 2 + (side === 0 ? -8 : 8)}"
          y="${middle - 2}"
          text-anchor="${side === 0 ? "end" : "start"}"
          class="soft"
          >${side === 0 ? "yes" : "no"}</text
        >`;
    });
  });
  const boxes = nodes.map(({ node, x, y }) => {
    const [first, second] = nodeLines(node);
    const middle = node.kind === "leaf" ? x : x + 3; // beside the stripe
    const text = html`<text x="${middle}" y="${y + 20}" text-anchor="middle" class="strong">${first}</text
      ><text x="${middle}" y="${y + 38}" text-anchor="middle" class="soft">${second}</text>`;
    if (node.kind === "leaf")
      return html`<rect
          x="${x - treeBox.leafWidth / 2}"
          y="${y}"
          width="${treeBox.leafWidth}"
          height="${treeBox.height}"
          rx="20"
          fill="#f6f6f3"
          stroke="#d4d4ce"
        />${text}`;
    const left = x - treeBox.width / 2;
    const closed = node.rule === null;
    return html`<g
      ><title>${splitWords(node)}</title
      ><rect
        x="${left}"
        y="${y}"
        width="${treeBox.width}"
        height="${treeBox.height}"
        rx="8"
        fill="${closed ? "#f6f6f3" : "#ffffff"}"
        stroke="${partyColour(view, node.owner)}"
        stroke-width="1.5"
        stroke-dasharray="${closed ? "5 4" : "none"}"
      /><rect
        x="${left}"
        y="${y}"
        width="6"
        height="${treeBox.height}"
        rx="3"
        fill="${partyColour(view, node.owner)}"
      />${text}</g
    >`;
  });
  return html`<svg
    viewBox="0 0 ${width} ${height}"
    style="max-width:${width}px"
    role="img"
    aria-label="tree ${tree.tree + 1}"
  >
    ${branches}${boxes}
  </svg>`;
}
