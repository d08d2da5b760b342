"""JSON against its schema, SARIF against an independent reader, annotations to the letter."""

import json
from importlib import resources

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import perfcheck
from perfcheck.render.github import github_lines
from perfcheck.rules import all_rules

W = jax.ShapeDtypeStruct((512, 512), jnp.bfloat16)
X = jax.ShapeDtypeStruct((64, 512), jnp.bfloat16)


def model(w, x):
    x = x * np.float32(0.5)
    return (x @ w).astype(jnp.bfloat16)


@pytest.fixture
def report():
    return perfcheck.performance_check(model, W, X, warn=False, target="H100", ignore="float64-matmul")


def test_json_follows_its_schema(report):
    jsonschema = pytest.importorskip("jsonschema")
    schema = json.loads(resources.files("perfcheck.render").joinpath("report.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    written = json.loads(report.to_json())
    jsonschema.validate(written, schema)
    assert written["version"] == 1
    assert written["findings"][0]["rule"] == "mixed-precision-matmul"
    assert written["findings"][0]["cause"]["meets"]["line"] == model.__code__.co_firstlineno + 1
    jsonschema.validate(perfcheck.performance_check(lambda x: x, X, warn=False).to_dict(), schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**written, "state": "fine"}, schema)


def test_sarif_is_read_by_an_independent_reader(report):
    sarif = pytest.importorskip("sarif_pydantic")
    log = sarif.Sarif.model_validate(json.loads(json.dumps(report.to_sarif())))
    (run,) = log.runs
    assert {rule.id for rule in run.tool.driver.rules} == set(all_rules())
    (result,) = run.results
    assert run.tool.driver.rules[result.rule_index].id == result.rule_id == "mixed-precision-matmul"
    region = result.locations[0].physical_location.region
    assert (region.start_line, region.start_column) == (model.__code__.co_firstlineno + 1, 9)


def test_sarif_has_relative_paths_help_and_stable_fingerprints(report, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(Path(__file__).parent)
    run = report.to_sarif()["runs"][0]
    (result,) = run["results"]
    artifact = result["locations"][0]["physicalLocation"]["artifactLocation"]
    assert artifact == {"uri": "test_forms.py", "uriBaseId": "%SRCROOT%"}
    assert all(rule["help"]["markdown"] for rule in run["tool"]["driver"]["rules"])
    again = perfcheck.performance_check(model, W, X, warn=False, target="A100").to_sarif()["runs"][0]["results"][0]
    assert result["partialFingerprints"] == again["partialFingerprints"]


def test_annotations_are_escaped(report, monkeypatch):
    from pathlib import Path

    monkeypatch.chdir(Path(__file__).parent)
    line = model.__code__.co_firstlineno + 1
    text = github_lines([report])
    where = f"file=test_forms.py,line={line},endLine={line},col=9,endColumn=28"
    assert text.startswith(f"::warning title=mixed-precision-matmul,{where}::3 matmuls run")
    assert "\n" not in text

    source = "import numpy as np\ndef model(w, x):\n    return x * np.float32(0.5) @ w\n"
    scope: dict = {}
    exec(compile(source, "a,b:c%d\n.py", "exec"), scope)
    text = github_lines([perfcheck.performance_check(scope["model"], W, X, warn=False, target="H100")])
    assert "file=a%2Cb%3Ac%25d\\x0a.py" in text
