"""A suite on real data: the claim that holds on web addresses is found to hold."""

from dataclasses import replace
from pathlib import Path

from cwtool.bench import runner, suite
from cwtool.bench.cells import Store
from cwtool.bench.claims import judge
from cwtool.messages.console import Console


def test_factors_help_on_web_addresses(shared_data: Path, tmp_path: Path) -> None:
    full = suite.load("cwfact-url", quick=True)
    small = replace(full, data={"url_mini": full.data["url_mini"]}, repeats=3)
    found = runner.run(small, shared_data, Console(quiet=True), store=Store(tmp_path))
    assert not found.failures
    assert len(found.records) == 15
    (verdict,) = judge(small.claims[0], found)
    assert (verdict.data, verdict.ours) == ("url_mini", "holds")
