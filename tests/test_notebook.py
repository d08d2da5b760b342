"""The example notebook in a real kernel, as HTML, in a real browser."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
nbconvert = pytest.importorskip("nbconvert")
pytest.importorskip("ipykernel")
pytest.importorskip("flax")

NOTEBOOK = Path(__file__).parent.parent / "examples" / "audit.ipynb"


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    """The notebook run by a kernel of this very interpreter."""
    prefix = tmp_path_factory.mktemp("kernel")
    subprocess.run(
        [sys.executable, "-m", "ipykernel", "install", "--prefix", str(prefix), "--name", "here"],
        check=True,
        capture_output=True,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(prefix / "share" / "jupyter"))
        notebook = nbformat.read(NOTEBOOK, as_version=4)
        nbclient.NotebookClient(notebook, timeout=180, kernel_name="here").execute()
    return notebook


def outputs(notebook):
    return [output.data for cell in notebook.cells for output in cell.get("outputs", ()) if "data" in output]


@pytest.mark.filterwarnings("ignore")
def test_the_notebook_shows_the_fault_and_then_a_clean_report(executed):
    faulty, clean = outputs(executed)
    assert "mixed-precision-matmul" in faulty["text/html"]
    assert "nn.LayerNorm" in faulty["text/html"]  # the source line of a notebook cell
    assert "<perfcheck.Report: 1 finding" in faulty["text/plain"]
    assert "no findings in" in clean["text/html"]


@pytest.mark.filterwarnings("ignore")
def test_a_browser_draws_it(executed, tmp_path):
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("no chromium on this machine")
    body, _ = nbconvert.HTMLExporter().from_notebook_node(executed)
    page, picture = tmp_path / "page.html", tmp_path / "page.png"
    page.write_text(body, encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
    subprocess.run(
        [
            chromium,
            *flags.split(),
            "--disable-component-update",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=800,1200",
            f"--screenshot={picture}",
            page.as_uri(),
        ],
        check=True,
        capture_output=True,
        timeout=120,
    )
    assert picture.stat().st_size > 20_000  # a blank page of this size is about 5 kB
