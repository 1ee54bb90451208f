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

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Wide enough for what a party can be doing. */
const boxes = { wide: { width: 176, height: 66 }, narrow: { width: 142, height: 84 } };
/** Of the two arrows of a link from its middle. */
const apart = 9;

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
  const { size, centre: middle, around: places } = narrow.value ? narrowPlaces(passives.length) : widePlaces(passives.length);
  const centre: Place = { party: active, ...middle };
  const around = passives.map((party, i): Place => ({ party, ...places[i] }));
  return (
    <>
      <svg class={narrow.value ? "parties narrow" : "parties"} viewBox={`0 0 ${size.width} ${size.height}`} role="img" aria-label={described(view)}>
        {around.map((end) => (
          <Link key={end.party.name} view={view} from={centre} to={end} />
        ))}
        {[centre, ...around].map((at) => (
          <PartyBox key={at.party.name} view={view} at={at} />
        ))}
      </svg>
      <Behind
        table={() => (
          <Table
            caption="Parties"
            head={["party", "role", "now", "sent", "received"]}
            textColumns={3}
            rows={view.parties.map((party) => [party.name, party.role, activityOf(view, party), formatBytes(party.sentBytes), formatBytes(party.receivedBytes)])}
          />
        )}
      />
    </>
  );
}

interface Places {
  readonly size: { readonly width: number; readonly height: number };
  readonly centre: { readonly x: number; readonly y: number };
  readonly around: readonly { readonly x: number; readonly y: number }[];
}

/** One beside, two below, more in a circle around the active party. */
function widePlaces(count: number): Places {
  const { width, height } = boxes.wide;
  const size = { width: 640, height: count > 2 ? 460 : count === 2 ? 330 : 220 };
  const [left, right] = [width / 2 + 4, size.width - width / 2 - 4];
  if (count === 1) return { size, centre: { x: left, y: 110 }, around: [{ x: right, y: 110 }] };
  if (count === 2) return { size, centre: { x: size.width / 2, y: height / 2 + 14 }, around: [left, right].map((x) => ({ x, y: size.height - height / 2 - 14 })) };
  const centre = { x: size.width / 2, y: size.height / 2 };
  const around = Array.from({ length: count }, (_, i) => {
    const angle = (2 * Math.PI * i) / count - Math.PI / 2;
    return { x: centre.x + Math.cos(angle) * (centre.x - width / 2 - 4), y: centre.y + Math.sin(angle) * (centre.y - height / 2 - 4) };
  });
  return { size, centre, around };
}

/** The active party to the left, the others below each other to the right. */
function narrowPlaces(count: number): Places {
  const { width } = boxes.narrow;
  const lane = 104;
  const size = { width: 346, height: Math.max(1, count) * lane };
  return { size, centre: { x: width / 2 + 2, y: size.height / 2 }, around: Array.from({ length: count }, (_, i) => ({ x: size.width - width / 2 - 2, y: (i + 0.5) * lane })) };
}

function box(): { readonly width: number; readonly height: number } {
  return narrow.value ? boxes.narrow : boxes.wide;
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
  const { width, height } = box();
  const [left, top] = [x - width / 2, y - height / 2];
  const busy = party.doing !== null && view.state === "training";
  return (
    <g class={busy ? "party busy" : "party"} style={{ color: partyColour(view, party.name) }}>
      <rect x={left} y={top} width={width} height={height} rx={10} class="party-box" />
      <rect x={left} y={top} width={6} height={height} rx={3} class="party-stripe" />
      <text x={left + 16} y={top + 25} class="party-name">
        {shortened(party.name, 14)}
        {party.self ? " (you)" : ""}
      </text>
      <circle cx={left + width - 14} cy={top + 19} r={5} class={party.connected ? "lamp on" : "lamp"} />
      <text x={left + 16} y={top + 46} class="party-doing">
        {activityOf(view, party)}
      </text>
      {narrow.value && !party.self && (
        <text x={left + 16} y={top + 68} class="bytes">
          {`↓ ${formatBytes(party.receivedBytes)}  ↑ ${formatBytes(party.sentBytes)}`}
        </text>
      )}
    </g>
  );
}

/** Two arrows side by side, one per direction, each with its bytes on its outer side. */
function Link({ view, from, to }: { readonly view: RunView; readonly from: Place; readonly to: Place }) {
  const passive = to.party;
  const live = view.state === "training";
  // With each update and not with each frame: an animation would take the processor that training needs.
  const step = Math.floor(view.lastAt / 25) % 1400;
  return (
    <g class="link">
      <Arrow from={from} to={to} active={live && passive.doing === "send"} step={step} colour={partyColour(view, from.party.name)} text={formatBytes(passive.receivedBytes)} />
      <Arrow from={to} to={from} active={live && passive.doing === "return"} step={step} colour={partyColour(view, passive.name)} text={formatBytes(passive.sentBytes)} />
    </g>
  );
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** How far it is, from a point near the middle of a box and in a direction, until a little outside of it. */
function wayOut(offset: Point, direction: Point): number {
  const { width, height } = box();
  const along = (half: number, at: number, step: number): number => (step === 0 ? Infinity : (Math.sign(step) * half - at) / step);
  return Math.min(along(width / 2 + 5, offset.x, direction.x), along(height / 2 + 5, offset.y, direction.y));
}

interface ArrowProps {
  readonly from: Point;
  readonly to: Point;
  readonly active: boolean;
  /** Moves the dashes of an active arrow. */
  readonly step: number;
  readonly colour: string;
  readonly text: string;
}

/** Keeps to the right of the way, as on a road: so that two directions never cover each other. */
function Arrow({ from, to, active, step, colour, text }: ArrowProps) {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const [ux, uy] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const [nx, ny] = [-uy, ux];
  const shift = { x: nx * apart, y: ny * apart };
  const [out, back] = [wayOut(shift, { x: ux, y: uy }), wayOut(shift, { x: -ux, y: -uy })];
  const [x1, y1, x2, y2] = [from.x + shift.x + ux * out, from.y + shift.y + uy * out, to.x + shift.x - ux * back, to.y + shift.y - uy * back];
  const head = `M${x2} ${y2} L${x2 - ux * 9 - uy * 5} ${y2 - uy * 9 + ux * 5} L${x2 - ux * 9 + uy * 5} ${y2 - uy * 9 - ux * 5} Z`;
  const label = { x: (x1 + x2) / 2 + nx * 9, y: (y1 + y2) / 2 + ny * 12 + 4 };
  return (
    <g style={{ color: colour }} class={active ? "arrow flowing" : "arrow"}>
      <line x1={x1} y1={y1} x2={x2 - ux * 8} y2={y2 - uy * 8} stroke-dashoffset={active && !still.matches ? -step : 0} />
      <path d={head} />
      {!narrow.value && (
        <text x={label.x} y={label.y} text-anchor={Math.abs(nx) < 0.35 ? "middle" : nx > 0 ? "start" : "end"} class="bytes">
          {text}
        </text>
      )}
    </g>
  );
}
