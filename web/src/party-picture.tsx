/**
 * The parties as a picture: the active one in the middle, passive ones around it, what each is doing, and the bytes that
 * went each way. On a passive party's page there are two: itself and the active party; it does not know the others.
 */
import { signal } from "@preact/signals";
import { formatBytes } from "../../src/base/format.ts";
import type { PartyView, RunView } from "../../src/report/run-view.ts";
import { shortened } from "../../src/report/tree-layout.ts";
import { Behind, Nothing, Table } from "./card.tsx";
import { partyColour } from "./party-colour.ts";

const narrow = signal(matchMedia("(max-width: 560px)").matches);
matchMedia("(max-width: 560px)").addEventListener("change", ({ matches }) => (narrow.value = matches));

const box = { width: 150, height: 62 };

interface Place {
  readonly party: PartyView;
  readonly x: number;
  readonly y: number;
}

const doingWords: Readonly<Record<string, string>> = {
  encrypt: "encrypting gradients",
  send: "taking gradients",
  aggregate: "adding ciphertexts",
  return: "sending sums back",
  decrypt: "decrypting sums",
  decide: "choosing splits",
};

export function PartyPicture({ view }: { readonly view: RunView }) {
  const active = view.parties.find(({ role }) => role === "active");
  const passives = view.parties.filter(({ role }) => role === "passive");
  if (active === undefined || passives.length === 0) return <Nothing>The parties have not met yet.</Nothing>;
  const size = narrow.value ? { width: 340, height: 130 + 110 * passives.length } : { width: 640, height: passives.length > 2 ? 400 : 280 };
  const centre: Place = narrow.value ? { party: active, x: size.width / 2, y: 45 } : { party: active, x: size.width / 2, y: size.height / 2 };
  const around = passives.map((party, i): Place => ({ party, ...place(i, passives.length, size) }));
  return (
    <>
      <svg class="parties" viewBox={`0 0 ${size.width} ${size.height}`} role="img" aria-label={described(view)}>
        {around.map((end) => (
          <Link key={end.party.name} view={view} from={centre} to={end} />
        ))}
        {[centre, ...around].map((at) => (
          <PartyBox key={at.party.name} view={view} at={at} />
        ))}
      </svg>
      <Behind>
        <Table
          caption="Parties"
          head={["party", "role", "now", "sent", "received"]}
          textColumns={3}
          rows={view.parties.map((party) => [party.name, party.role, activityOf(view, party), formatBytes(party.sentBytes), formatBytes(party.receivedBytes)])}
        />
      </Behind>
    </>
  );
}

function place(index: number, count: number, size: { readonly width: number; readonly height: number }): { x: number; y: number } {
  if (narrow.value) return { x: size.width / 2, y: 155 + index * 110 };
  const side = { left: box.width / 2 + 8, right: size.width - box.width / 2 - 8 };
  if (count === 1) return { x: side.right, y: size.height / 2 };
  if (count === 2) return { x: index === 0 ? side.left : side.right, y: size.height / 2 };
  const angle = (2 * Math.PI * index) / count - Math.PI / 2;
  return { x: size.width / 2 + Math.cos(angle) * (size.width / 2 - box.width / 2 - 8), y: size.height / 2 + Math.sin(angle) * (size.height / 2 - box.height / 2 - 8) };
}

function activityOf(view: RunView, party: PartyView): string {
  if (view.state === "finished") return "done";
  if (!party.connected) return view.state === "failed" ? "gone" : "not connected";
  if (party.doing !== null) return doingWords[party.doing];
  if (view.state === "aligning") return "aligning";
  return view.state === "training" ? "waiting" : "connected";
}

function described(view: RunView): string {
  return view.parties.map((party) => `${party.name}, ${party.role}: ${activityOf(view, party)}`).join("; ");
}

function PartyBox({ view, at }: { readonly view: RunView; readonly at: Place }) {
  const { party, x, y } = at;
  const [left, top] = [x - box.width / 2, y - box.height / 2];
  const busy = party.doing !== null && view.state === "training";
  return (
    <g class={busy ? "party busy" : "party"} style={{ color: partyColour(view, party.name) }}>
      <rect x={left} y={top} width={box.width} height={box.height} rx={10} class="party-box" />
      <rect x={left} y={top} width={6} height={box.height} rx={3} class="party-stripe" />
      <text x={left + 18} y={top + 25} class="party-name">
        {shortened(party.name, 14)}
        {party.self ? " (you)" : ""}
      </text>
      <circle cx={left + box.width - 14} cy={top + 19} r={5} class={party.connected ? "lamp on" : "lamp"} />
      <text x={left + 18} y={top + 46} class="party-doing">
        {activityOf(view, party)}
      </text>
    </g>
  );
}

/** Two arrows side by side, one per direction, each with its bytes. */
function Link({ view, from, to }: { readonly view: RunView; readonly from: Place; readonly to: Place }) {
  const passive = to.party;
  // A passive party's own bytes are all with the active one.
  const [toPassive, toActive] = [passive.receivedBytes, passive.sentBytes];
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const reach = edgeDistance(ux, uy) + 6;
  const live = view.state === "training";
  const line = (side: number) => ({
    x1: from.x + ux * reach - uy * 11 * side,
    y1: from.y + uy * reach + ux * 11 * side,
    x2: to.x - ux * reach - uy * 11 * side,
    y2: to.y - uy * reach + ux * 11 * side,
  });
  const [out, back] = [line(-1), line(1)];
  return (
    <g class="link">
      <Arrow ends={out} active={live && passive.doing === "send"} colour={partyColour(view, from.party.name)} text={formatBytes(toPassive)} above vertical={Math.abs(uy) > 0.8} />
      <Arrow ends={{ x1: back.x2, y1: back.y2, x2: back.x1, y2: back.y1 }} active={live && passive.doing === "return"} colour={partyColour(view, passive.name)} text={formatBytes(toActive)} above={false} vertical={Math.abs(uy) > 0.8} />
    </g>
  );
}

/** From the middle of a box to its edge, in a direction. */
function edgeDistance(ux: number, uy: number): number {
  return Math.min(ux === 0 ? Infinity : box.width / 2 / Math.abs(ux), uy === 0 ? Infinity : box.height / 2 / Math.abs(uy));
}

interface ArrowProps {
  readonly ends: { readonly x1: number; readonly y1: number; readonly x2: number; readonly y2: number };
  readonly active: boolean;
  readonly colour: string;
  readonly text: string;
  readonly above: boolean;
  readonly vertical: boolean;
}

function Arrow({ ends, active, colour, text, above, vertical }: ArrowProps) {
  const { x1, y1, x2, y2 } = ends;
  const length = Math.hypot(x2 - x1, y2 - y1) || 1;
  const [ux, uy] = [(x2 - x1) / length, (y2 - y1) / length];
  const head = `M${x2} ${y2} L${x2 - ux * 9 - uy * 5} ${y2 - uy * 9 + ux * 5} L${x2 - ux * 9 + uy * 5} ${y2 - uy * 9 - ux * 5} Z`;
  const [middleX, middleY] = [(x1 + x2) / 2, (y1 + y2) / 2];
  const text2 = vertical ? { x: middleX + (above ? 10 : -10), y: middleY + 4, anchor: above ? ("start" as const) : ("end" as const) } : { x: middleX, y: middleY + (above ? -9 : 19), anchor: "middle" as const };
  return (
    <g style={{ color: colour }} class={active ? "arrow flowing" : "arrow"}>
      <line x1={x1} y1={y1} x2={x2 - ux * 8} y2={y2 - uy * 8} />
      <path d={head} />
      <text x={text2.x} y={text2.y} text-anchor={text2.anchor} class="bytes">
        {text}
      </text>
    </g>
  );
}
