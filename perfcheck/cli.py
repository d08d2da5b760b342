"""The command line: `perfcheck check`, `perfcheck rules`, `perfcheck tips`."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

CLEAN, FINDINGS, UNCHECKED = 0, 1, 2
"""Exit statuses: nothing found; findings; something could not be checked."""

FORMATS = ("text", "json", "sarif", "github", "html")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; its exit status."""
    options = _parser().parse_args(arguments)
    return options.run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="perfcheck", description="Audit JAX models for matmuls that run too wide.")
    parser.add_argument("--version", action="store_true", help="print the version and leave")
    parser.set_defaults(run=lambda options: _version() if options.version else parser.print_help() or UNCHECKED)
    commands = parser.add_subparsers(title="commands")

    check = commands.add_parser("check", help="audit models", description=_CHECK_HELP)
    check.set_defaults(run=_check)
    check.add_argument("targets", nargs="+", metavar="TARGET", help="package.module:attr, path/file.py:attr or path/file.py")
    check.add_argument("--format", choices=FORMATS, default="text")
    check.add_argument("--output", type=Path, help="write there instead of standard output")
    check.add_argument("--target", help="device to price for, such as H100 or 'TPU v5e'")
    check.add_argument("--select", action="append", metavar="RULE[@GLOB]")
    check.add_argument("--ignore", action="append", metavar="RULE[@GLOB]")
    check.add_argument("--within", action="append", metavar="PACKAGE")
    check.add_argument("--min-slowdown", type=float, metavar="FRACTION")
    check.add_argument("--compute-dtype", metavar="DTYPE", help="the precision that was asked for, such as bfloat16")
    check.add_argument("--x64", action="store_true", help="trace with 64-bit types on")
    check.add_argument("--exit-zero", action="store_true", help="leave with 0 when there are findings")
    check.add_argument(
        "--baseline", type=Path, metavar="FILE", help="fail for findings that are not in it, and for entries that are gone"
    )
    check.add_argument("--write-baseline", type=Path, metavar="FILE", help="write the findings there")

    rules = commands.add_parser("rules", help="list the rules")
    rules.set_defaults(run=_rules)
    tips = commands.add_parser("tips", help="read the tips page, or the section of a rule")
    tips.set_defaults(run=_tips)
    tips.add_argument("rule", nargs="?")
    return parser


_CHECK_HELP = (
    "A target's attr is a function without arguments that returns (model, sample) or (model, sample, options), or such a "
    "tuple; sample is a tuple of positional arguments, options are keyword arguments of performance_check. Without attr, "
    "every function of the file named perfcheck_* is one. Exit status: 0 clean, 1 findings, 2 could not check."
)


def _version() -> int:
    from . import __version__

    print(f"perfcheck {__version__}")
    return CLEAN


def _rules(_: argparse.Namespace) -> int:
    from .rules import all_rules

    width = max(map(len, all_rules()))
    for rule in all_rules().values():
        print(f"{rule.name:<{width}}  {rule.summary}")
    return CLEAN


def _tips(options: argparse.Namespace) -> int:
    from .rules import all_rules
    from .tips import section, tips

    if options.rule is not None and options.rule not in all_rules():
        print(f"there is no rule {options.rule!r}; the rules are {', '.join(all_rules())}", file=sys.stderr)
        return UNCHECKED
    text = tips() if options.rule is None else f"## {options.rule}\n\n{section(options.rule)}"
    if sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        Console().print(Markdown(text))
    else:
        print(text)
    return CLEAN


def _check(options: argparse.Namespace) -> int:
    if options.x64:
        import jax

        jax.config.update("jax_enable_x64", True)
    from .report import CheckError, Report

    reports: list[tuple[str, Report]] = []
    failed: list[tuple[str, str]] = []
    try:
        audits = [audit for target in options.targets for audit in find_audits(target)]
        for number, (name, make) in enumerate(audits, 1):
            _progress(f"[{number}/{len(audits)}] {name}")
            try:
                reports.append((name, _audit(make, options)))
            except CheckError as error:
                failed.append((name, str(error)))
        _progress("")
        return _conclude(reports, failed, options)
    except CheckError as error:
        print(f"perfcheck: {error}", file=sys.stderr)
        return UNCHECKED


def _audit(make: Callable[[], Any], options: argparse.Namespace) -> Any:
    from .check import performance_check
    from .report import CheckError

    given = make()
    if not isinstance(given, tuple) or len(given) not in (2, 3):
        raise CheckError("return (model, sample) or (model, sample, options)")
    model, sample, keywords = (*given, {}) if len(given) == 2 else given
    sample = sample if isinstance(sample, tuple) else (sample,)
    own = {
        name: value
        for name in ("target", "select", "ignore", "within", "min_slowdown", "compute_dtype")
        if (value := getattr(options, name)) is not None
    }
    return performance_check(model, *sample, **{**keywords, **own, "warn": False})


def _conclude(reports: list[Any], failed: list[tuple[str, str]], options: argparse.Namespace) -> int:
    gone: tuple[tuple[str, ...], ...] = ()
    if options.write_baseline:
        from .baseline import write_baseline

        count = write_baseline(options.write_baseline, reports)
        print(f"{count} findings written to {options.write_baseline}", file=sys.stderr)
    if options.baseline:
        from .baseline import compare, read_baseline

        compared = compare(reports, read_baseline(options.baseline))
        reports, gone = list(compared.reports), compared.gone
    text = _rendered(options.format, reports)
    if options.output:
        options.output.write_text(text + "\n", encoding="utf-8")
    elif options.format == "text" and sys.stdout.isatty():
        for _, report in reports:
            report.print()
            print()
    elif text:
        print(text)
    for name, error in failed:
        print(f"{name}: could not check: {error}", file=sys.stderr)
    for one in gone:
        print(f"no longer found, and still in {options.baseline}: {' / '.join(filter(None, one))}", file=sys.stderr)
    if gone:
        again = " ".join(options.targets)
        print(f"remove them with: perfcheck check {again} --write-baseline {options.baseline}", file=sys.stderr)
    if failed or any(report.state == "could not check" for _, report in reports):
        return UNCHECKED
    found = gone or any(report.findings for _, report in reports)
    return FINDINGS if found and not (options.exit_zero or options.write_baseline) else CLEAN


def _rendered(form: str, reports: list[Any]) -> str:
    if form == "text":
        return "\n\n".join(str(report) for _, report in reports)
    if form == "json":
        return json.dumps({"version": 1, "reports": [{"name": name, **report.to_dict()} for name, report in reports]}, indent=2)
    plain = [report for _, report in reports]
    if form == "sarif":
        from .render.sarif import sarif_log

        return json.dumps(sarif_log(plain), indent=2)
    if form == "github":
        from .render.github import github_lines

        return github_lines(plain)
    from .render.html import page_html

    return page_html(reports)


def _progress(text: str) -> None:
    """Say on a terminal what is being audited, over the last line that said so."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\x1b[2K{text}")
        sys.stderr.flush()


def find_audits(target: str) -> Iterator[tuple[str, Callable[[], Any]]]:
    """(name, function that gives model and sample) for each audit a target names. Raises `CheckError` where it names none."""
    from .report import CheckError

    place, _, attribute = target.partition(":") if target[1:3] != ":\\" else (target, "", "")
    module = _load(place)
    if not attribute:
        found = [name for name in vars(module) if name.startswith("perfcheck_") and callable(getattr(module, name))]
        if not found:
            raise CheckError(f"{place} has no function named perfcheck_*: name one, {place}:attr")
        for name in found:
            yield f"{place}:{name}", getattr(module, name)
        return
    value: Any = module
    for part in attribute.split("."):
        value = getattr(value, part, None)
        if value is None:
            raise CheckError(f"{place} has no {attribute!r}")
    yield target, value if callable(value) and not isinstance(value, tuple) else lambda: value


def _load(place: str) -> Any:
    from .report import CheckError

    try:
        if place.endswith(".py"):
            file = Path(place).resolve()
            if not file.is_file():
                raise CheckError(f"there is no file {place}")
            spec = importlib.util.spec_from_file_location(f"perfcheck_target_{file.stem}", file)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            sys.path.insert(0, str(file.parent))
            try:
                spec.loader.exec_module(module)
            finally:
                sys.path.remove(str(file.parent))
            return module
        sys.path.insert(0, "")
        try:
            return importlib.import_module(place)
        finally:
            sys.path.remove("")
    except CheckError:
        raise
    except Exception as error:
        raise CheckError(f"{place} cannot be imported: {type(error).__name__}: {error}") from error


if __name__ == "__main__":
    sys.exit(main())
