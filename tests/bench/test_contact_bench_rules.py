"""The bodies of [TOK14] with rules: all keys, few contacts, no deeper than with all of them."""

from pathlib import Path

import pytest

from supple.bench import contact_case as cases
from supple.bench import pick_benchmark

KEYS = (
    "tets", "domains", "poses", "rank", "full_ms", "reduced_ms", "speedup", "contacts_full", "contacts_rule",
    "detect_ms_full", "detect_ms_rule", "contact_ms_full", "contact_ms_rule", "contact_speedup_mean",
    "contact_speedup_max", "contact_share_max", "penetration_full", "penetration_reduced", "rms_error", "patch_error",
    "train_s",
)  # fmt: skip


def test_a_bent_cylinder_stops_at_itself_by_rules(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    small = cases.CASES["cylinder"]._replace(sizes={"small": (900, 5, 6, 5)})
    monkeypatch.setitem(cases.CASES, "cylinder", small)
    paper, row = pick_benchmark("contact-cylinder").run("small", plot=tmp_path)
    assert paper["contacts_rule"] == 15
    assert set(KEYS) <= set(row)
    assert row["domains"] == 2
    assert row["contacts_full"] > 0
    assert row["rule_most"] <= 2 * row["rank"]
    assert row["rms_error"] < 0.05
    assert row["penetration_reduced"] < 0.5 * row["penetration_free"]
    for name in ("contact-cylinder.png", "contact-cylinder-share.png", "contact-cylinder-ms.png"):
        assert (tmp_path / name).stat().st_size > 1_000
