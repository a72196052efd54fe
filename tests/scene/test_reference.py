"""The generated reference names every key of the schema."""

from supple.scene.reference import TABLES, scene_reference
from supple.scene.section import key_names


def test_every_key_stands_in_the_reference_with_a_meaning() -> None:
    text = scene_reference()
    for section in TABLES.values():
        for key in key_names(section):
            assert f"`{key}`" in text
        for name, field in section.model_fields.items():
            assert field.description, f"{section.__name__}.{name} has no description"


def test_rows_show_type_limits_unit_and_default() -> None:
    text = scene_reference()
    assert "| `fps` | number > 0, ≤ 1e+06 | 1/s | `24` | frames per second |" in text
    assert "| `poisson` or `nu` | number > -1, < 0.5 |" in text
    assert "| `by` | three numbers | units | required |" in text
