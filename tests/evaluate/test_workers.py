"""Several processes give what one gives."""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from functools import partial
from itertools import count
from types import ModuleType

import pytest

from core.errors import EvaluationError, ModelError
from core.evaluate import evaluate
from core.evaluate.workers import parallel, reopened
from core.questions import load_questions
from tests.evaluate.sets import broken, elsewhere, opened, small


@pytest.mark.parametrize("scope", ["corpus", "document"])
def test_two_workers_give_what_one_gives(scope):
    through = partial(parallel, opener=opened, workers=2)
    several = small(scope=scope, through=through)
    assert several.finished
    assert several.without_timings() == small(scope=scope).without_timings()


def test_a_worker_that_cannot_open_says_why():
    with pytest.raises(ModelError, match="a tiny model: cannot be loaded"):
        small(through=partial(parallel, opener=broken, workers=2))


def test_a_worker_with_other_documents_is_no_worker():
    with pytest.raises(EvaluationError, match="came to another index"):
        small(through=partial(parallel, opener=elsewhere, workers=1))


def test_a_run_that_is_stopped_keeps_what_was_done():
    looks = count()
    through = partial(parallel, opener=opened, workers=1)
    stopped = small(through=through, cancelled=lambda: next(looks) > 0)
    assert not stopped.finished
    assert small(earlier=stopped, through=through).without_timings() == small().without_timings()


def test_nothing_left_to_do_starts_no_process():
    done = small()
    again = small(earlier=done, through=partial(parallel, opener=broken, workers=2))
    assert again.without_timings() == done.without_timings()


@pytest.mark.integration
def test_the_real_models_give_the_same_numbers(root, tmp_path):
    from core.evaluate import RANKED, YARDSTICK
    from core.model_arguments import add_model_arguments
    from core.session import embedded_pipeline, open_documents

    real = embedded_pipeline()
    docs = [root / "sample_docs" / "travel-expense-policy.md", root / "sample_docs" / "faq.txt"]
    made = open_documents(docs, YARDSTICK, real.encoder, cache=tmp_path).index
    asked = [q for q in load_questions(root / "sample_docs" / "questions.jsonl")][:8]
    words = ArgumentParser()
    add_model_arguments(words)
    opener = partial(reopened, options=words.parse_args([]), modes=RANKED, cache=tmp_path)
    through = partial(parallel, opener=opener, workers=2)
    one = evaluate(real, made, asked, RANKED, scope="document", budgets=(200,))
    two = evaluate(real, made, asked, RANKED, scope="document", budgets=(200,), through=through)
    assert one.rows and two.without_timings() == one.without_timings()


def test_workers_do_not_run_again_what_this_process_was_started_with(monkeypatch, tmp_path):
    started = tmp_path / "page.py"
    mark = tmp_path / "mark"
    started.write_text(f"open({str(mark)!r}, 'a').write('ran')\nraise SystemExit(3)\n")
    page = ModuleType("__main__")
    page.__file__ = str(started)
    monkeypatch.setitem(sys.modules, "__main__", page)
    through = partial(parallel, opener=opened, workers=2)
    assert small(through=through).without_timings() == small().without_timings()
    assert not mark.exists() and sys.modules["__main__"] is page
