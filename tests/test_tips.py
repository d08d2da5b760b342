"""The tips page: a section a rule, whose slow program yields that rule alone and whose fast one is clean."""

from __future__ import annotations

import linecache
import re
from importlib import resources

import pytest
from conftest import x64

import perfcheck
from perfcheck.rules import all_rules

TEXT = resources.files("perfcheck").joinpath("tips.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## ([a-z0-9-]+)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))


def run(name: str, kind: str):
    code = re.search(rf"```python {kind}\n(.*?)```", SECTIONS[name], re.DOTALL)[1]
    file = f"<tips {name} {kind}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    with x64("X64 = True" in code):
        scope: dict = {}
        exec(compile(code, file, "exec"), scope)
        return perfcheck.performance_check(
            scope["model"], *scope["SAMPLE"], warn=False, target="H100", **scope.get("OPTIONS", {})
        )


def test_every_rule_has_a_section_and_every_section_a_rule():
    assert set(SECTIONS) == set(all_rules())


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_the_slow_program_yields_that_rule_alone(name):
    report = run(name, "slow")
    assert [finding.rule for finding in report] == [name], str(report)
    assert report[0].tip.endswith(f"#{name}")


@pytest.mark.parametrize("name", sorted(SECTIONS))
def test_the_fast_program_is_clean(name):
    report = run(name, "fast")
    assert not report, str(report)
