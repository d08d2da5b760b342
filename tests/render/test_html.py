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
        "H100 SXM",
    ):
        assert fact in read.text
        assert fact in str(report)
    assert "Why it costs" in read.text  # the tip is folded in


def test_it_has_no_script_no_id_and_no_outside_resource(report):
    html = page_html([("one", report), ("two", report)])
    read = Reader(html)
    assert not read.tags & {"script", "link", "iframe", "img", "object"}
    assert not read.attributes & {"id", "src", "href", "onclick", "onload"}
    assert "url(" not in html
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


def test_a_clean_report_and_notes(report):
    w = jax.ShapeDtypeStruct((512, 512), jnp.float32)
    clean = perfcheck.performance_check(lambda w, x: x @ w, w, np.zeros((64, 512)), warn=False)
    assert "no findings in 3 matmuls" in clean._repr_html_()
    assert "x64 is off" in clean._repr_html_()
