"""HTML that is text and nothing else, whatever a model is called."""

import dataclasses
import linecache
from html.parser import HTMLParser

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import perfcheck
from perfcheck.render.html import page_html

W = jax.ShapeDtypeStruct((512, 512), jnp.bfloat16)
X = jax.ShapeDtypeStruct((64, 512), jnp.bfloat16)
EVIL = "<script>alert(1)</script>\"'\x1b[31m\u202e&"


def model(w, x):
    x = x * np.float32(0.5)
    return (x @ w).astype(jnp.bfloat16)


@pytest.fixture
def report():
    return perfcheck.performance_check(model, W, X, warn=False, target="H100")


class Reader(HTMLParser):
    VOID = frozenset({"meta", "br", "hr", "img", "link"})

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.text = [], set(), set(), ""
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attributes)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def test_it_says_what_the_text_says(report):
    read = Reader(report._repr_html_())
    assert not read.open
    for fact in (
        "1 finding in 3 matmuls",
        "float32 scalar 0.5 meets bfloat16[64,512]",
        "write the Python number 0.5",
        "widens 1 forward and 2 backward matmuls, 100% of matmul FLOPs",
        "x slower matmuls on H100 SXM",
    ):
        assert fact in read.text
        assert fact in str(report)
    assert "Why it costs" in read.text  # the tip is folded in


def test_every_place_is_told_as_the_text_tells_it(report):
    (finding,) = report
    cause = finding.cause
    elsewhere = dataclasses.replace(cause.location, file="/elsewhere/other.py", text="    return x * table")
    places = tuple(dataclasses.replace(cause.location, line=900 + k) for k in range(5))
    other = dataclasses.replace(finding, cause=dataclasses.replace(cause, meets=elsewhere, places=places))
    html = Reader(dataclasses.replace(report, findings=(other,))._repr_html_()).text
    for fact in ("meets here", "/elsewhere/other.py", "return x * table", "also at", ":902:", ", ..."):
        assert fact in html
        assert fact in str(other)
    assert ":903:" not in html


def test_a_cause_that_costs_nothing_is_not_called_slower(report):
    free = dataclasses.replace(report[0], impact=dataclasses.replace(report[0].impact, slowdown=1.0))
    assert "no slower matmuls on H100 SXM" in Reader(dataclasses.replace(report, findings=(free,))._repr_html_()).text


def test_the_matmuls_say_operands_result_and_dtype(report):
    read = Reader(report._repr_html_())
    for site in report[0].sites:
        assert " x ".join(site.operands) + site.result + site.dtype in read.text


def test_what_was_left_out_and_why_backward_is_missing():
    def loop(w, x):
        return jax.lax.while_loop(lambda c: c[0] < 3, lambda c: (c[0] + 1, (c[1] @ w).astype(x.dtype)), (0, x))[1]

    missing = perfcheck.performance_check(loop, W, X, warn=False)
    assert "backward pass not checked: ValueError" in Reader(missing._repr_html_()).text
    ignored = perfcheck.performance_check(model, W, X, warn=False, ignore=["mixed-precision-matmul"])
    assert "suppressed: 1 mixed-precision-matmul by mixed-precision-matmul" in Reader(ignored._repr_html_()).text


def test_a_dtype_has_one_colour_in_every_report(report):
    mended = perfcheck.performance_check(lambda w, x: x @ w, W, X, warn=False)
    assert 'perfcheck-part1" style' in report._repr_html_()  # float32
    assert 'perfcheck-part0" style' in mended._repr_html_()  # bfloat16


def test_colours_follow_the_notebook_and_not_the_desktop(report):
    html = report._repr_html_()
    assert '[data-jp-theme-light="false"] .perfcheck-report' in html
    assert '[data-jp-theme-light="true"] .perfcheck-report' in html


def test_it_has_no_script_no_id_and_no_outside_resource(report):
    html = page_html([("one", report), ("two", report)])
    read = Reader(html)
    assert not read.tags & {"script", "link", "iframe", "img", "object"}
    assert not read.attributes & {"id", "src", "href", "onclick", "onload"}
    assert "url(" not in html
    assert "http" not in html
    assert "@import" not in html


def test_hostile_names_stay_text():
    source = f"def model(p, x):\n    with scope({EVIL!r}):\n        x = x * half  # {EVIL}\n        return x @ p[{EVIL!r}]\n"
    file = f"<{EVIL}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    scope = {"half": np.float32(0.5), "scope": jax.named_scope}
    exec(compile(source, file, "exec"), scope)
    scope["model"].__name__ = EVIL
    report = perfcheck.performance_check(scope["model"], {EVIL: jax.ShapeDtypeStruct((512, 512), jnp.float32)}, X, warn=False)
    assert report
    html = page_html([(EVIL, report)])
    read = Reader(html)
    assert "script" not in read.tags
    assert "<script" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html
    assert "alert(1)" in read.text


def test_a_finding_that_cannot_be_shown_hides_no_other(report):
    broken = dataclasses.replace(report[0], cause=None)
    html = dataclasses.replace(report, findings=(broken, report[0]))._repr_html_()
    assert "mixed-precision-matmul cannot be shown" in html
    assert "float32 scalar 0.5" in html


class Broken:
    def list_matmuls(self):
        raise RuntimeError("no matmuls")


@pytest.mark.parametrize("field", ["matmuls", "flops", "matmul_seconds", "target_reason", "model"])
def test_broken_facts_never_raise(report, field):
    html = dataclasses.replace(report, program=dataclasses.replace(report.program, **{field: None}))._repr_html_()
    assert not Reader(html).open


@pytest.mark.parametrize(
    "fields", [{"details": Broken()}, {"notes": (None,)}, {"suppressed": (None,)}, {"findings": (None,)}, {"program": None}]
)
def test_broken_parts_never_raise(report, fields):
    html = dataclasses.replace(report, **fields)._repr_html_()
    assert not Reader(html).open
    if not fields.keys() & {"findings", "program"}:
        assert "float32 scalar 0.5" in html


def test_a_broken_report_hides_no_other_of_its_page(report):
    html = page_html([(EVIL, None), ("good", report)])
    assert "<script" not in html
    assert "\u202e" not in html
    assert "cannot be shown: AttributeError" in html
    assert "float32 scalar 0.5" in html


def test_a_broken_finding_with_a_hostile_name_stays_text(report):
    broken = dataclasses.replace(report[0], rule=EVIL, message=EVIL, sites=None)
    html = dataclasses.replace(report, findings=(broken,))._repr_html_()
    assert not Reader(html).tags & {"script"}
    assert "\x1b" not in html
    assert "alert(1)" in Reader(html).text


def test_hostile_modules_and_operands_stay_text(report):
    sites = tuple(dataclasses.replace(site, module=EVIL, operands=(EVIL, EVIL), result=EVIL) for site in report[0].sites)
    cause = dataclasses.replace(
        report[0].cause, module=EVIL, library=dataclasses.replace(report[0].cause.location, function=EVIL)
    )
    finding = dataclasses.replace(report[0], sites=sites, cause=cause, fix=EVIL, message=EVIL)
    note = perfcheck.report.Note(EVIL)
    html = dataclasses.replace(report, findings=(finding,), notes=(note,))._repr_html_()
    read = Reader(html)
    assert not read.open
    assert "<script" not in html
    assert not read.attributes & {"onclick", "id"}
    assert "\x1b" not in html
    assert "\u202e" not in html


def test_many_findings_stay_small(report):
    sites = tuple(dataclasses.replace(site, module=f"Model/encoder/block_{k}") for k, site in enumerate(report[0].sites * 100))
    large = dataclasses.replace(
        report,
        findings=(dataclasses.replace(report[0], sites=sites),) * 400,
        notes=(perfcheck.report.Note("a note of some length, said again and again"),) * 5000,
    )
    html = large._repr_html_()
    assert len(html) < 1_000_000
    assert "and 350 more findings" in html
    assert "and 4900 more" in html


def test_a_large_report_stays_small(report):
    sites = report[0].sites * 3000
    modules = tuple(dataclasses.replace(site, module=f"Net/block_{k}") for k, site in enumerate(sites))

    class Many:
        def list_matmuls(self):
            return modules

    large = dataclasses.replace(report, findings=(dataclasses.replace(report[0], sites=modules),) * 20, details=Many())
    html = large._repr_html_()
    assert len(html) < 1_000_000
    assert "and 8950 more" in html
    assert "and 8900 more" in html  # modules


def test_a_clean_report_and_notes(report):
    w = jax.ShapeDtypeStruct((512, 512), jnp.float32)
    clean = perfcheck.performance_check(lambda w, x: x @ w, w, np.zeros((64, 512)), warn=False)
    assert "no findings in 3 matmuls" in clean._repr_html_()
    assert "x64 is off" in clean._repr_html_()
