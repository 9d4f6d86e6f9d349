"""The choice of models: in words, what stands in the way, and what a link must not do."""

from __future__ import annotations

import pytest

from core.models.catalog import PROFILES
from core.settings import knob_named
from dashboard import knobs, link
from dashboard.link import View
from dashboard.models import EMBEDDED, ModelChoice, obstacles


def test_a_choice_is_told_in_words():
    assert EMBEDDED.described() == "Embedded"
    chosen = ModelChoice("custom", piecewise="my/model")
    assert chosen.described() == "Custom, piecewise my/model"
    assert chosen.models.piecewise == "my/model" and chosen.models.encoder == ""


def test_what_is_not_on_this_machine_is_said_for_each_role(tmp_path):
    assert obstacles(EMBEDDED) == []
    missing = ModelChoice("custom", encoder=str(tmp_path / "no"), context="provence:nobody/none")
    said = obstacles(missing)
    assert [s.partition(":")[0] for s in said] == ["The encoder", "The context"]
    assert obstacles(ModelChoice("custom", encoder="nobody/none", download=True)) == []


@pytest.mark.parametrize("profile", PROFILES)
def test_every_profile_can_be_chosen(profile):
    assert ModelChoice(profile).models.name == profile


def test_no_link_chooses_models_or_trusts_code():
    view = View("q", models=ModelChoice("custom", encoder="x", trust=("x@" + "0" * 12,)))
    params = link.to_params(view)
    assert set(params) == {"q"}
    hostile = {"q": ["q"], "models": ["x"], "encoder": ["x"], "trust": ["x@000000000000"]}
    found, problems = link.from_params(hostile)
    assert found.models == EMBEDDED and len(problems) == 3


def test_the_sparse_weight_waits_for_an_encoder_that_gives_sparse_scores():
    knob, settings = knob_named("fusion_sparse"), View().settings
    assert "no sparse score" in knobs.idle_reason(knob, "no_rerank", settings)
    assert knobs.idle_reason(knob, "no_rerank", settings, "m3:") == ""
