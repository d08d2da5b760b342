"""The rule table: names, one-liners, one module a rule, a section of the tips page each."""

import re

import pytest

from perfcheck.rules import all_rules
from perfcheck.tips import section


@pytest.mark.parametrize("name", sorted(all_rules()))
def test_a_rule_is_well_named_and_told(name):
    rule = all_rules()[name]
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", name)
    assert rule.check.__module__ == f"perfcheck.rules.{name.replace('-', '_')}"
    assert rule.summary[0].islower()
    assert not rule.summary.endswith(".")
    assert re.fullmatch(r"\d+\.\d+", rule.since)
    for part in ("What it means.", "Why it costs.", "A slow program", "The fast one", "When to keep it."):
        assert part in section(name)
