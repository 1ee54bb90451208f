/** The trees as this party may see them, one at a time, and the importance of parties and of own features. */
import { modelTrees } from "../../src/record/job-facts.ts";
import { treeTitle } from "../../src/record/own-view.ts";
import { Card, Nothing } from "../views/card.tsx";
import { ImportanceCards } from "../views/importance.tsx";
import { TreePicture } from "../views/tree-picture.tsx";
import { href, route } from "./route.ts";
import { jobViews } from "./session.ts";

export function TreesView() {
  const { view } = jobViews.value;
  const own = modelTrees(view, jobViews.value.own);
  const numbers = [...own.trees.keys()].sort((a, b) => a - b);
  const asked = Number(route.value.parameters.get("tree") ?? NaN) - 1;
  const shown = own.trees.get(asked) ?? own.trees.get(numbers[numbers.length - 1]);
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
        </Card>
      )}
      <ImportanceCards view={view} own={own} />
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
