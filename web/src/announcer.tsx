/** Announces the job's progress to screen readers: once per tree, and at most every few seconds. */
import { computed } from "@preact/signals";
import { useLayoutEffect, useState } from "preact/hooks";
import { formatSeconds } from "../../src/base/text/format.ts";
import { secondsLeft } from "../../src/record/job-facts.ts";
import { jobViews } from "./session.ts";

const pauseMs = 5000;

/** Changes with a tree, and not with every message. */
const news = computed(() => {
  const { view, own } = jobViews.value;
  const { treesDone, treeCount, state } = view;
  return state === "finished"
    ? `The job is finished${own.exposures.length > 0 ? " and audited" : ""}.`
    : state === "failed"
      ? "The job failed."
      : state === "interrupted"
        ? "The job was interrupted."
        : treesDone > 0
          ? `Tree ${treesDone} of ${treeCount} is finished.`
          : "";
});

export function Announcer() {
  const [said, say] = useState({ text: "", at: 0 });
  const text = news.value;
  useLayoutEffect(() => {
    if (text === "") return undefined;
    const sayNow = (): void => {
      const left = secondsLeft(jobViews.peek().view, Date.now());
      say({ text: left === null ? text : `${text} ${formatSeconds(left)} left.`, at: Date.now() });
    };
    const wait = said.at + pauseMs - Date.now();
    // Immediately: within the frame that shows it.
    if (wait <= 0) sayNow();
    const timer = wait <= 0 ? undefined : setTimeout(sayNow, wait);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <p class="unseen" role="status" aria-live="polite">
      {said.text}
    </p>
  );
}
