/**
 * The parties as a picture: what each holds, what it is doing, and the bytes that went each way. On a passive party's
 * page there are two: itself and the active party; it does not know the others. A narrow screen shows a list instead.
 */
import { useContext } from "preact/hooks";
import { formatBytes } from "../../src/base/text/format.ts";
import { activityOf, featuresOf, holdingOf } from "../../src/record/job-facts.ts";
import type { JobView, PartyView } from "../../src/record/job-view.ts";
import { Behind, Nothing, Table } from "./card.tsx";
import { Medium } from "./medium.ts";
import { partyColour } from "./party-colour.ts";
import { placeArrow, placeParties, type Point, type Size } from "./party-layout.ts";
import { shortened } from "./tree-layout.ts";

/** A report is read by others than the party that made it. */
function nameOf({ name, self }: PartyView, isReport: boolean): string {
  const isYou = self && !isReport;
  return isYou ? `${shortened(name, 11)} (you)` : shortened(name, 17);
}

interface Place extends Point {
  readonly party: PartyView;
}

/** The text about a party: its activity, or its role once the job is done. */
function standingOf(view: JobView, party: PartyView): string {
  return view.state === "finished" ? `${party.role} party` : activityOf(view, party);
}

export function Parties({ view }: { readonly view: JobView }) {
  const isReport = useContext(Medium) === "report";
  const active = view.parties.find(({ role }) => role === "active");
  const passives = view.parties.filter(({ role }) => role === "passive");
  if (active === undefined || passives.length === 0)
    return <Nothing>The parties appear here when they have connected.</Nothing>;
  return (
    <>
      <Picture view={view} active={active} passives={passives} />
      <ul class="party-list">
        {[active, ...passives].map((party) => (
          <PartyLine key={party.name} view={view} party={party} />
        ))}
      </ul>
      {isReport ? (
        <div class="wide-screen">
          <PartyTable view={view} />
        </div>
      ) : (
        <Behind table={() => <PartyTable view={view} />} />
      )}
    </>
  );
}

function PartyTable({ view }: { readonly view: JobView }) {
  return (
    <Table
      caption="Parties"
      head={["party", "role", "state", "features", "sent", "received"]}
      textColumns={3}
      rows={view.parties.map((party) => [
        party.name,
        party.role,
        activityOf(view, party),
        featuresOf(view, party)?.toString() ?? "",
        formatBytes(party.sentBytes),
        formatBytes(party.receivedBytes),
      ])}
    />
  );
}

/** Bytes are seen from the party, whichever way this viewer counts them. */
function PartyLine({ view, party }: { readonly view: JobView; readonly party: PartyView }) {
  const { name, sentBytes, receivedBytes } = party;
  return (
    <li style={{ color: partyColour(view, name) }}>
      <strong>{nameOf(party, useContext(Medium) === "report")}</strong>
      <span>{standingOf(view, party)}</span>
      <span class="soft">{holdingOf(view, party)}</span>
      <span class="soft">{`received ${formatBytes(receivedBytes)}, sent ${formatBytes(sentBytes)}`}</span>
    </li>
  );
}

interface PictureProps {
  readonly view: JobView;
  readonly active: PartyView;
  readonly passives: readonly PartyView[];
}

function Picture({ view, active, passives }: PictureProps) {
  const { size, box, centre: middle, around: places } = placeParties(passives.length);
  const centre: Place = { party: active, ...middle };
  const around = passives.map((party, i): Place => ({ party, ...places[i] }));
  const described = view.parties.map((party) => `${party.name}, ${party.role}: ${activityOf(view, party)}`).join("; ");
  return (
    <svg class="parties" viewBox={`0 0 ${size.width} ${size.height}`} role="img" aria-label={described}>
      {around.map((end) => (
        <Link key={end.party.name} view={view} box={box} from={centre} to={end} />
      ))}
      {[centre, ...around].map((at) => (
        <PartyBox key={at.party.name} view={view} box={box} at={at} />
      ))}
    </svg>
  );
}

function PartyBox({ view, box, at }: { readonly view: JobView; readonly box: Size; readonly at: Place }) {
  const { party, x, y } = at;
  const { width, height } = box;
  const [left, top] = [x - width / 2, y - height / 2];
  const busy = party.doing !== null && view.state === "training";
  return (
    <g class={busy ? "party busy" : "party"} style={{ color: partyColour(view, party.name) }}>
      <rect x={left} y={top} width={width} height={height} rx={10} class="party-box" />
      <rect x={left} y={top} width={6} height={height} rx={3} class="party-stripe" />
      <text x={left + 18} y={top + 25} class="party-name">
        {nameOf(party, useContext(Medium) === "report")}
      </text>
      {view.state !== "finished" && (
        <circle cx={left + width - 15} cy={top + 20} r={5} class={party.connected ? "lamp on" : "lamp"} />
      )}
      <text x={left + 18} y={top + 46} class="party-doing">
        {standingOf(view, party)}
      </text>
      <text x={left + 18} y={top + 66} class="party-holds">
        {holdingOf(view, party)}
      </text>
    </g>
  );
}

interface LinkProps {
  readonly view: JobView;
  readonly box: Size;
  readonly from: Place;
  readonly to: Place;
}

/** Two arrows side by side, one per direction, each with its bytes on its outer side. */
function Link({ view, box, from, to }: LinkProps) {
  const passive = to.party;
  const live = view.state === "training";
  // With each update and not with each frame: an animation would take CPU time from training.
  const step = Math.floor(view.lastAt / 25) % 1400;
  return (
    <g class="link">
      <Arrow
        box={box}
        from={from}
        to={to}
        step={live && passive.doing === "send" ? step : null}
        colour={partyColour(view, from.party.name)}
        text={formatBytes(passive.receivedBytes)}
      />
      <Arrow
        box={box}
        from={to}
        to={from}
        step={live && passive.doing === "return" ? step : null}
        colour={partyColour(view, passive.name)}
        text={formatBytes(passive.sentBytes)}
      />
    </g>
  );
}

interface ArrowProps {
  readonly box: Size;
  readonly from: Point;
  readonly to: Point;
  /** Moves the dashes of an arrow along which something is being sent; null: nothing is. */
  readonly step: number | null;
  readonly colour: string;
  readonly text: string;
}

function Arrow({ box, from, to, step, colour, text }: ArrowProps) {
  const placed = placeArrow(from, to, box);
  return (
    <g style={{ color: colour }} class={step === null ? "arrow" : "arrow flowing"}>
      <line
        x1={placed.from.x}
        y1={placed.from.y}
        x2={placed.to.x}
        y2={placed.to.y}
        stroke-dashoffset={step === null ? 0 : -step}
      />
      <path d={placed.head} />
      <text x={placed.label.x} y={placed.label.y} text-anchor={placed.label.anchor} class="bytes">
        {text}
      </text>
    </g>
  );
}
