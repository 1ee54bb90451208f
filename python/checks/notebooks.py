"""Runs the notebooks and writes them with their new outputs; a cell that fails fails the run.

python checks/notebooks.py [--check] [name ...]     --check leaves the files as they are
"""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient

folder = pathlib.Path(__file__).parents[2] / "notebooks"


def is_widget(output: dict) -> bool:
    """A progress bar: without a kernel it cannot be drawn."""
    return "application/vnd.jupyter.widget-view+json" in output.get("data", {})


def main(arguments: list[str]) -> int:
    is_check = "--check" in arguments
    names = [name for name in arguments if not name.startswith("--")]
    for path in sorted(folder.glob("*.ipynb")):
        if names and path.stem not in names:
            continue
        notebook = nbformat.read(path, as_version=4)
        NotebookClient(notebook, timeout=1800, kernel_name="python3").execute()
        # What differs from run to run says nothing.
        for cell in notebook.cells:
            cell.metadata.pop("execution", None)
            if cell.cell_type == "code":
                cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr" and not is_widget(one)]
        notebook.metadata.pop("language_info", None)
        notebook.metadata.pop("widgets", None)
        if not is_check:
            nbformat.write(notebook, path)
        print(f"{path.name}: runs")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
