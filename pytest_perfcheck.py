"""The pytest plugin. It stands outside the package so that loading it imports neither JAX nor perfcheck."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

_PROPERTY = "perfcheck"
_OPTIONS = ("target", "select", "ignore")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("perfcheck", "audits of JAX models")
    group.addoption("--perfcheck-report", metavar="PATH", help="write all audits of the run there: .html, .json or .sarif")
    group.addoption("--perfcheck-target", metavar="DEVICE", help="device to price for")
    group.addoption("--perfcheck-select", action="append", metavar="RULE[@GLOB]")
    group.addoption("--perfcheck-ignore", action="append", metavar="RULE[@GLOB]")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line("markers", "perfcheck: a test that audits a model's performance")


@pytest.fixture
def performance_check(request: pytest.FixtureRequest):
    """Audit a model: `performance_check(model, *sample, **options)` fails the test with the report if there are findings.

    Takes what `perfcheck.performance_check` takes, and `broken=["rule", ...]`: rules whose findings are expected, and
    whose absence fails. Returns the report.
    """
    import perfcheck

    def check(model, *sample, broken=(), **options):
        __tracebackhide__ = True
        for name in _OPTIONS:
            given = request.config.getoption(f"perfcheck_{name}")
            if given is not None and name == "target":
                options.setdefault(name, given)
            elif given is not None:
                own = options.get(name) or ()
                options[name] = [*([own] if isinstance(own, str) else own), *given]
        options.setdefault("warn", False)
        try:
            report = perfcheck.performance_check(model, *sample, **options)
        except perfcheck.CheckError as error:
            _record(request.node, {"model": _name(model), "verdict": f"could not check: {error}"}, None)
            pytest.fail(f"could not check: {error}", pytrace=False)
        _record(request.node, {"model": report.program.model, "verdict": repr(report)[len("<perfcheck.Report: ") : -1]}, report)
        expected = {broken} if isinstance(broken, str) else set(broken)
        missing = expected - {finding.rule for finding in report}
        if missing:
            pytest.fail(f"expected findings are gone: {', '.join(sorted(missing))}: take them out of broken=", pytrace=False)
        if any(finding.rule not in expected for finding in report):
            pytest.fail(str(report), pytrace=False)
        return report

    return check


def _name(model) -> str:
    return getattr(model, "__name__", type(model).__name__)


def _record(item, summary, report) -> None:
    """Keep a summary, and where a report file is wanted the whole report, where xdist carries it to the controller."""
    wanted = item.config.getoption("perfcheck_report")
    if wanted and report is not None:
        summary["report"] = report.to_dict()
        if Path(wanted).suffix == ".sarif":
            summary["sarif"] = report.to_sarif()
        elif Path(wanted).suffix == ".html":
            from perfcheck.render.html import section_html

            summary["html"] = section_html(item.nodeid, report)
    item.user_properties.append((_PROPERTY, json.dumps({"test": item.nodeid, **summary})))


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    """One line an audited model, and the report file."""
    audits = []
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", None) == "call":
                audits += [json.loads(value) for key, value in getattr(report, "user_properties", ()) if key == _PROPERTY]
    if not audits:
        return
    audits.sort(key=lambda audit: audit["test"])
    terminalreporter.section("perfcheck")
    for audit in audits:
        terminalreporter.line(f"{audit['test']}: {_printable(audit['model'])}: {_printable(audit['verdict'])}")
    wanted = config.getoption("perfcheck_report")
    if wanted:
        _write(Path(wanted), audits)
        terminalreporter.line(f"report: {wanted}")


def _printable(text: str) -> str:
    return "".join(
        character if character.isprintable() else repr(character)[1:-1] for character in text.splitlines()[0] if text
    )


def _write(path: Path, audits: list[dict]) -> None:
    if path.suffix == ".sarif":
        logs = [audit["sarif"] for audit in audits if "sarif" in audit]
        merged = logs[0] if logs else {"version": "2.1.0", "runs": []}
        for log in logs[1:]:
            merged["runs"][0]["results"] += log["runs"][0]["results"]
        path.write_text(json.dumps(merged, indent=2) + "\n", encoding="utf-8")
    elif path.suffix == ".html":
        from perfcheck.render.html import page_of

        path.write_text(page_of([audit["html"] for audit in audits if "html" in audit]), encoding="utf-8")
    else:
        reports = [{"name": audit["test"], **audit["report"]} for audit in audits if "report" in audit]
        path.write_text(json.dumps({"version": 1, "reports": reports}, indent=2) + "\n", encoding="utf-8")
