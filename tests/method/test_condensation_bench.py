"""The benchmark of the capsule has the rows it documents, and draws what it says."""

from supple.bench import condense_capsule

KEYS = (
    "tets vertices rank elements weights radius full_ms subspace_ms avg_active avg_ms avg_speedup worst_active "
    "worst_ms worst_speedup best_speedup newton_avg pcg_avg pcg_max detect_ms rms_error rms_error_subspace patch_error "
    "patch_error_subspace"
)


def test_capsule_has_a_row_for_every_radius_and_weights(monkeypatch, tmp_path) -> None:
    monkeypatch.setitem(condense_capsule._TETS, "small", 400)
    rows = condense_capsule.run("small", tmp_path, 4)
    cases = [(weights, radius) for weights in ("subtract", "paper") for radius in (0.08, 0.15, 0.25)]
    assert [(row["weights"], row["radius"]) for row in rows] == cases
    for row in rows:
        assert " ".join(row) == KEYS
        assert 0.0 < row["worst_active"] < 1.0
        assert row["rms_error"] < row["rms_error_subspace"]
    assert rows[2]["patch_error"] < rows[2]["patch_error_subspace"]
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {f"condense-capsule{kind}.png" for kind in ("", "-error", "-share", "-time")}
