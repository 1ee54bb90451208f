/** The trees as this party may see them, and which parties and own features the model leans on. */
import { importance, importanceByParty, treeTitle, type TreeView } from "../../src/record/own-view.ts";
import { modelTrees } from "../../src/record/job-facts.ts";
import { Card, Nothing } from "./card.tsx";
import { Contributions } from "./contribution-table.tsx";
import { ImportanceTable } from "./importance-table.tsx";
import { narrow } from "./narrow.ts";
import { href, route } from "./route.ts";
import { jobViews } from "./session.ts";
import { TreePicture, treeText } from "./tree-picture.tsx";

export function TreesView() {
  const { view } = jobViews.value;
  const own = modelTrees(view, jobViews.value.own);
  const numbers = [...own.trees.keys()].sort((a, b) => a - b);
  const asked = Number(route.value.parameters.get("tree") ?? NaN) - 1;
  const shown = own.trees.get(asked) ?? own.trees.get(numbers[numbers.length - 1]);
  const rows = importance(own, view.party);
  return (
    <>
      <h1 class="title">Trees</h1>
      {shown === undefined ? (
        <Card title="Tree">
          <Nothing>Each tree appears here when it is finished.</Nothing>
        </Card>
      ) : (
        <Card title={treeTitle(own, shown.tree)} wide aside={<TreeChoice numbers={numbers} shown={shown.tree} />}>
          <TreePicture view={view} tree={shown} />
          <TreeAsText tree={shown} />
        </Card>
      )}
      {rows.length > 0 && (
        <div class="grid">
          <Card title="Importance per party">
            <ImportanceTable view={view} rows={importanceByParty(rows)} own={false} />
          </Card>
          <Card title="Importance per feature">
            <ImportanceTable view={view} rows={rows} own />
            <p class="note">A party sees the names of its own features only.</p>
          </Card>
          {own.contributions !== null && <Contributions view={view} summary={own.contributions} />}
        </div>
      )}
    </>
  );
}

function TreeChoice({ numbers, shown }: { readonly numbers: readonly number[]; readonly shown: number }) {
  const at = numbers.indexOf(shown);
  const open = (tree: number | undefined): void => {
    if (tree !== undefined) location.hash = href("trees", { tree: String(tree + 1) });
  };
  return (
    <div class="tree-choice">
      <button type="button" onClick={() => open(numbers[at - 1])} disabled={at <= 0} aria-label="Previous tree">
        ‹
      </button>
      <label class="choice">
        <span class="unseen">Tree</span>
        <select value={String(shown)} onChange={(event) => open(Number(event.currentTarget.value))}>
          {numbers.map((tree) => (
            <option key={tree} value={String(tree)}>
              tree {tree + 1}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        onClick={() => open(numbers[at + 1])}
        disabled={at >= numbers.length - 1}
        aria-label="Next tree"
      >
        ›
      </button>
    </div>
  );
}

function TreeAsText({ tree }: { readonly tree: TreeView }) {
  return (
    <details class="behind" open={narrow.value}>
      <summary>As text</summary>
      <pre tabIndex={0}>{treeText(tree)}</pre>
    </details>
  );
}
