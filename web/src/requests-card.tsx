/** Requests of a passive party's partners, and what was decided about them; with a token of an approver, deciding. */
import { signal } from "@preact/signals";
import { Behind, Card, Table } from "../views/card.tsx";
import { decide, requests, type RequestLine, signIn } from "./session.ts";

/** What the server said to the last attempt. */
const refused = signal("");
const reasons = signal<Readonly<Record<string, string>>>({});

export function Requests() {
  const known = requests.value;
  if (known === null) return null;
  const waiting = known.requests.filter(({ standing }) => standing === "waiting");
  return (
    <>
      {waiting.map((request) => (
        <Request key={request.id} request={request} mayDecide={known.approver !== null} />
      ))}
      {waiting.length > 0 && known.approver === null && known.canSignIn && <SignIn />}
      {refused.value !== "" && (
        <p class="banner" role="alert">
          {refused.value}
        </p>
      )}
      {known.actions.length > 0 && <Decisions />}
    </>
  );
}

function Request({ request, mayDecide }: { readonly request: RequestLine; readonly mayDecide: boolean }) {
  const { id, summary, reveals, figures, since, terms } = request;
  const { partner, work, job, purpose } = terms;
  return (
    <Card
      title={`${partner} requests ${job}`}
      wide
      aside={<span class="hint">{`request ${id}, ${shownTime(since)}`}</span>}
    >
      <p>{`${work}: ${summary}.`}</p>
      {purpose !== "" && (
        <p>
          {`Purpose, in ${partner}'s words: `}
          <q>{purpose}</q>
        </p>
      )}
      {figures.map((figure) => (
        <p key={figure}>{figure}</p>
      ))}
      <Behind
        summary={`What ${partner} would learn, at most`}
        table={() => (
          <ul>
            {reveals.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        )}
      />
      {mayDecide ? (
        <Decide id={id} />
      ) : (
        <p class="note">{`In a terminal: tandem approve ${id}, or tandem deny ${id}`}</p>
      )}
    </Card>
  );
}

function Decide({ id }: { readonly id: string }) {
  const reason = reasons.value[id] ?? "";
  return (
    <p class="decide">
      <button type="button" class="button" onClick={() => void settle(id, "approve", "")}>
        Approve
      </button>
      <input
        type="text"
        aria-label={`reason to deny request ${id}`}
        placeholder="reason, sent to the partner"
        maxLength={500}
        value={reason}
        onInput={(event) => (reasons.value = { ...reasons.value, [id]: event.currentTarget.value })}
      />
      <button type="button" class="button" onClick={() => void settle(id, "deny", reason)}>
        Deny
      </button>
    </p>
  );
}

async function settle(id: string, what: "approve" | "deny", reason: string): Promise<void> {
  refused.value = await decide(id, what, reason);
}

function SignIn() {
  return (
    <form
      class="decide"
      onSubmit={(event) => {
        event.preventDefault();
        const field = event.currentTarget.querySelector("input");
        if (field === null) return;
        const { value } = field;
        field.value = "";
        void signIn(value).then((words) => (refused.value = words));
      }}
    >
      <input type="password" aria-label="token of an approver" placeholder="token of an approver" autocomplete="off" />
      <button type="submit" class="button">
        Sign in to decide
      </button>
    </form>
  );
}

function Decisions() {
  const actions = requests.value?.actions ?? [];
  return (
    <Card title="Decisions" wide>
      <Table
        caption="Decisions about requests"
        stacks
        head={["when", "who", "what", "active party", "job", "request", "reason"]}
        textColumns={7}
        rows={actions
          .toReversed()
          .map(({ at, who, via, what, partner, job, request, reason }) => [
            shownTime(Date.parse(at)),
            `${who} (${via})`,
            what,
            partner,
            job,
            request,
            reason,
          ])}
      />
    </Card>
  );
}

function shownTime(at: number): string {
  return new Date(at).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
}
