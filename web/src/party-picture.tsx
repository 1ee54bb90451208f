/**
 * The parties as a picture: what each holds, what it is doing, and the bytes that went each way. On a passive party's
 * page there are two: itself and the active party; it does not know the others.
 */
import { formatBytes } from "../../src/base/text/format.ts";
import { placeArrow, placeParties, type Point, type Size } from "../../src/report/party-layout.ts";
import { activityOf, holdingOf } from "../../src/record/job-facts.ts";
import type { PartyView, JobView } from "../../src/record/job-view.ts";
import { shortened } from "../../src/report/tree-layout.ts";
import { Behind, Nothing, Table } from "./card.tsx";
import { narrow } from "./narrow.ts";
import { partyColour } from "./party-colour.ts";

const still = matchMedia("(prefers-reduced-motion: reduce)");

interface Place extends Point {
  readonly party: PartyView;
}

export function PartyPicture({ view }: { readonly view: JobView }) {
  const active = view.parties.find(({ role }) => role === "active");
  const passives = view.parties.filter(({ role }) => role === "passive");
  if (active === undefined || passives.length === 0)
    return <Nothing>The parties appear here when they have connected.</Nothing>;
  const { size, box, centre: middle, around: places } = placeParties(passives.length, narrow.value ? "narrow" : "wide");
  const centre: Place = { party: active, ...middle };
  const around = passives.map((party, i): Place => ({ party, ...places[i] }));
  const described = view.parties.map((party) => `${party.name}, ${party.role}: ${activityOf(view, party)}`).join("; ");
  return (
    <>
      <svg
        class={narrow.value ? "parties narrow" : "parties"}
        viewBox={`0 0 ${size.width} ${size.height}`}
        role="img"
        aria-label={described}
      >
        {around.map((end) => (
          <Link key={end.party.name} view={view} box={box} from={centre} to={end} />
        ))}
        {[centre, ...around].map((at) => (
          <PartyBox key={at.party.name} view={view} box={box} at={at} />
        ))}
      </svg>
      <Behind
        table={() => (
          <Table
            caption="Parties"
            head={["party", "role", "now", "sent", "received"]}
            textColumns={3}
            rows={view.parties.map((party) => [
              party.name,
              party.role,
              activityOf(view, party),
              formatBytes(party.sentBytes),
              formatBytes(party.receivedBytes),
            ])}
          />
        )}
      />
    </>
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
        {shortened(party.name, narrow.value ? 11 : 14)}
        {party.self ? " (you)" : ""}
      </text>
      <circle cx={left + width - 15} cy={top + 20} r={5} class={party.connected ? "lamp on" : "lamp"} />
      <text x={left + 18} y={top + 46} class="party-doing">
        {activityOf(view, party)}
      </text>
      <text x={left + 18} y={top + 66} class="party-holds">
        {narrow.value && !party.self
          ? `↓ ${formatBytes(party.receivedBytes)}  ↑ ${formatBytes(party.sentBytes)}`
          : holdingOf(view, party)}
      </text>
    </g>
  );
}

/** Two arrows side by side, one per direction, each with its bytes on its outer side. */
function Link({
  view,
  box,
  from,
  to,
}: {
  readonly view: JobView;
  readonly box: Size;
  readonly from: Place;
  readonly to: Place;
}) {
  const passive = to.party;
  const live = view.state === "training";
  // With each update and not with each frame: an animation would take the processor that training needs.
  const step = Math.floor(view.lastAt / 25) % 1400;
  return (
    <g class="link">
      <Arrow
        box={box}
        from={from}
        to={to}
        active={live && passive.doing === "send"}
        step={step}
        colour={partyColour(view, from.party.name)}
        text={formatBytes(passive.receivedBytes)}
      />
      <Arrow
        box={box}
        from={to}
        to={from}
        active={live && passive.doing === "return"}
        step={step}
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
  readonly active: boolean;
  /** Moves the dashes of an active arrow. */
  readonly step: number;
  readonly colour: string;
  readonly text: string;
}

function Arrow({ box, from, to, active, step, colour, text }: ArrowProps) {
  const placed = placeArrow(from, to, box);
  return (
    <g style={{ color: colour }} class={active ? "arrow flowing" : "arrow"}>
      <line
        x1={placed.from.x}
        y1={placed.from.y}
        x2={placed.to.x}
        y2={placed.to.y}
        stroke-dashoffset={active && !still.matches ? -step : 0}
      />
      <path d={placed.head} />
      {!narrow.value && (
        <text x={placed.label.x} y={placed.label.y} text-anchor={placed.label.anchor} class="bytes">
          {text}
        </text>
      )}
    </g>
  );
}
