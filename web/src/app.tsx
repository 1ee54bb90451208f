/** The frame around all views: whose page it is, which job, where to go. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { isUnderWay } from "../../src/record/job-view.ts";
import type { JobViews } from "../../src/record/stored-record.ts";
import { Disclosure } from "../views/disclosure.tsx";
import { Encoding } from "../views/encoding.tsx";
import { Exposure } from "../views/exposure.tsx";
import { CompareView } from "./compare-view.tsx";
import { Overview } from "./overview.tsx";
import { QualityView } from "./quality-view.tsx";
import { href, route, type ViewName, views } from "./route.ts";
import { JobsView } from "./jobs-view.tsx";
import {
  connection,
  openJob,
  jobAlarms,
  jobViews,
  jobFailure,
  jobWarning,
  jobs,
  jobState,
  viewer,
  viewers,
} from "./session.ts";
import { nextTheme, theme } from "./theme.ts";
import { TreesView } from "./trees-view.tsx";
import { Announcer } from "./announcer.tsx";

const themeNames = { system: "Theme: system", light: "Theme: light", dark: "Theme: dark" } as const;

export function App() {
  return (
    <>
      <button type="button" class="skip" onClick={() => document.querySelector<HTMLElement>("#main")?.focus()}>
        Skip to content
      </button>
      <header class="top">
        <div class="top-row">
          <span class="brand">
            <Logo />
            Tandem
          </span>
          <ViewerChoice />
          <JobChoice />
          <span class="top-space" />
          <ReportLink />
          <ThemeChoice />
        </div>
        <Tabs />
      </header>
      <Trouble />
      <Warning />
      <main id="main" tabIndex={-1}>
        <CurrentView />
      </main>
      <Announcer />
      <footer>
        Tandem {viewers.value.version} · This page shows what {viewer.value === "" ? "this party" : viewer.value} may
        see. It loads nothing from outside this machine.
      </footer>
    </>
  );
}

function Tabs() {
  const tabs = useRef<HTMLElement>(null);
  const { view } = route.value;
  useEffect(() => {
    // On a narrow screen the tabs scroll: the one that is open is brought into view.
    const current = tabs.current?.querySelector<HTMLElement>("[aria-current]");
    if (tabs.current !== null && current)
      tabs.current.scrollLeft = current.offsetLeft - (tabs.current.clientWidth - current.offsetWidth) / 2;
  }, [view]);
  return (
    <nav aria-label="Views" ref={tabs}>
      {(Object.keys(views) as ViewName[]).map((name) => (
        <a key={name} href={href(name)} aria-current={view === name ? "page" : undefined}>
          {views[name]}
        </a>
      ))}
    </nav>
  );
}

function ThemeChoice() {
  const name = themeNames[theme.value];
  return (
    <button type="button" class="theme" aria-label={name} title={name} onClick={nextTheme}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <circle cx="8" cy="8" r="6.5" class="theme-ring" />
        <path d="M8 1.5 a6.5 6.5 0 0 1 0 13 z" />
      </svg>
      <span class="theme-name">{name}</span>
    </button>
  );
}

function CurrentView() {
  switch (route.value.view) {
    case "overview":
      return <Overview />;
    case "quality":
      return <QualityView />;
    case "encoding":
      return <Titled title={views.encoding} view={Encoding} />;
    case "trees":
      return <TreesView />;
    case "disclosure":
      return <Titled title={views.disclosure} view={Disclosure} />;
    case "exposure":
      return <Titled title={views.exposure} view={Exposure} />;
    case "jobs":
      return <JobsView />;
    case "compare":
      return <CompareView />;
  }
}

interface TitledProps {
  readonly title: string;
  readonly view: (views: JobViews) => ComponentChildren;
}

/** A view that a report has as well. */
function Titled({ title, view: View }: TitledProps) {
  const { view, own } = jobViews.value;
  return (
    <>
      <h1 class="title">{title}</h1>
      <View view={view} own={own} />
    </>
  );
}

function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true">
      <circle cx="11" cy="18" r="8" class="wheel-a" />
      <circle cx="21" cy="14" r="8" class="wheel-b" />
    </svg>
  );
}

/** Only where one machine plays several parties. */
function ViewerChoice() {
  const { viewers: all } = viewers.value;
  if (all.length < 2) return <span class="whose">{viewer.value}</span>;
  return (
    <label class="choice">
      <span>Seen by</span>
      <select
        value={viewer.value}
        onChange={(event) =>
          (location.hash = href(route.value.view === "compare" ? "jobs" : route.value.view, {
            viewer: event.currentTarget.value,
            job: null,
          }))
        }
      >
        {all.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

function JobChoice() {
  if (jobs.value.length === 0) return null;
  return (
    <label class="choice">
      <span>Job</span>
      <select
        value={openJob.value ?? ""}
        onChange={(event) =>
          (location.hash = href(route.value.view === "compare" ? "overview" : route.value.view, {
            job: event.currentTarget.value,
          }))
        }
      >
        {jobs.value.map(({ job }) => (
          <option key={job} value={job}>
            {job}
          </option>
        ))}
      </select>
    </label>
  );
}

function ReportLink() {
  const job = openJob.value;
  const state = jobState.value;
  if (job === null || isUnderWay(state) || connection.value !== "open") return null;
  return (
    <a
      class="button"
      target="_blank"
      rel="noreferrer"
      href={`/api/report?${new URLSearchParams({ viewer: viewer.value, job }).toString()}`}
    >
      Report
    </a>
  );
}

function Trouble() {
  const failure = jobFailure.value;
  if (connection.value === "refused")
    return <Banner>No access. Open the whole address that tandem printed, with its token.</Banner>;
  if (connection.value === "lost" && jobState.value !== "finished")
    return (
      <Banner>
        The connection to tandem is lost. You see what arrived last, and the page keeps trying. If the command has
        ended, look at its jobs with 'tandem dashboard'.
      </Banner>
    );
  if (jobState.value === "interrupted")
    return (
      <Banner>
        This job was interrupted: no process is working on it any more. Start the command again with the same config to
        resume it.
      </Banner>
    );
  if (failure !== null) return <Banner>{`This job failed: ${failure.message} (${failure.code})`}</Banner>;
  return null;
}

function Warning() {
  return (
    <>
      {jobWarning.value === null ? null : <Banner>{jobWarning.value}</Banner>}
      {jobAlarms.value === "" ? null : jobAlarms.value.split("\n").map((alarm) => <Banner key={alarm}>{alarm}</Banner>)}
    </>
  );
}

function Banner({ children }: { readonly children: ComponentChildren }) {
  return (
    <p class="banner" role="alert">
      {children}
    </p>
  );
}
