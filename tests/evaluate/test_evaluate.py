"""The yardstick on tiny corpora: laws, and an oracle that counts characters."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.errors import EvaluationError, QuestionSetError, SettingsError
from core.evaluate import (
    Evaluation,
    evaluate,
    lost,
    lost_questions,
    summarise,
    summary_json,
    within_budget,
)
from core.evaluate.ask import ROOMY
from core.evaluate.evidence import prepared
from core.evaluate.records import LOSSES
from core.fates import fate_of
from core.questions import Question, Reference, locate
from core.records import Access, Page, Principal
from tests.evaluate.sets import MODES, NOTES, QUESTIONS, RULES, SMALL, asked, small, worlds
from tests.worlds import document, index, pipeline

BUDGETS = (20, 60, 400)


def measured(made, wanted, questions, **more) -> Evaluation:
    more = {"modes": MODES, "budgets": BUDGETS, **more}
    return evaluate(pipeline(), index(made, wanted), questions, settings=wanted, **more)


def ink(question, made) -> set[tuple[str, int]]:
    """The characters of its evidence, by name of document: names, as ids come from content."""
    (of,) = [d for d in made if d.name == question.document]
    return {(of.id, i) for r in question.references for i in range(r.start, r.end)}


# Laws.


@given(worlds(), st.sampled_from(["corpus", "document"]))
@settings(max_examples=40)
def test_recall_is_what_counting_characters_gives(world, scope):
    made, wanted, questions = world
    evaluation = measured(made, wanted, questions, scope=scope)
    roomy = wanted.changed(evidence_budget=max(BUDGETS), window_tokens=ROOMY)
    for q in questions:
        own = [d for d in made if d.name == q.document]
        asks = index(made if scope == "corpus" else own, wanted)
        for mode in MODES:
            row = evaluation.by_mode[mode][q.id]
            trace = pipeline().run(asks, q.text, roomy, mode)
            for b in BUDGETS:
                for measure, stage in (("recall", "diversity"), ("before", "first_stage")):
                    left, seen = b, set()
                    for chunk in map(asks.chunk, trace.stage(stage).kept):
                        if chunk.tokens > left:
                            break
                        left -= chunk.tokens
                        seen |= {(chunk.document_id, i) for i in range(chunk.start, chunk.end)}
                    of = ink(q, made)
                    share = len(of & seen) / len(of)
                    assert getattr(row, measure)[str(b)] == pytest.approx(share)


@given(worlds())
@settings(max_examples=40)
def test_bounds(world):
    evaluation = measured(*world)
    assert evaluation.finished and len(evaluation.rows) == len(world[2]) * len(MODES)
    for row in evaluation.rows:
        for shares in (row.recall, row.before):
            values = [shares[str(b)] for b in BUDGETS]
            assert values == sorted(values), "more room, more evidence"
            assert all(0 <= v <= 1 for v in values)
        for b in BUDGETS:
            assert 0 <= row.assembled[str(b)] <= 1 and row.tokens[str(b)] <= b
            assert row.complete(b) == (row.recall[str(b)] > 1 - 1e-9)
            assert set(row.lost[str(b)]) <= {"", *LOSSES}
        assert len(row.ranks) <= row.relevant


@given(worlds())
@settings(max_examples=40)
def test_a_loss_is_the_fate_of_the_chunk_that_held_the_piece(world):
    """Each piece cut to lie in one chunk: its stage is then that chunk's own fate."""
    made, wanted, questions = world
    wanted = wanted.changed(chunk_overlap=0)
    built = index(made, wanted)
    within = []
    for q in questions:
        (of,) = [d for d in made if d.name == q.document]
        r = q.references[0]
        (holding,) = [
            c for c in built.chunks if c.document_id == of.id and c.start <= r.start < c.end
        ]
        one = Reference(start=r.start, end=min(r.end, holding.end))
        if of.text[one.start : one.end].strip():
            within.append((replace(q, references=(one,)), holding))
    budget = 60
    for q, holding in within:
        for mode in MODES:
            trace = pipeline().run(
                built, q.text, wanted.changed(evidence_budget=200_000, window_tokens=ROOMY), mode
            )
            (stage,) = lost(trace, built, locate(q, built.documents), budget)
            fate = fate_of(trace, holding.id)
            order = trace.stage("diversity").kept
            tokens = 0
            for c in order[: order.index(holding.id) + 1] if holding.id in order else ():
                tokens += built.chunk(c).tokens
            if not fate.arrived:
                near = "extend" if MODES[1] == mode and fate.stage == "first_stage" else fate.stage
                assert stage in (fate.stage, near)
            elif tokens <= budget:
                assert stage == ""
            else:
                assert stage in ("rerank", "budget")


@given(worlds(), st.randoms(use_true_random=False))
@settings(max_examples=15)
def test_the_order_of_questions_and_files_does_not_matter(world, shuffle):
    made, wanted, questions = world
    one = measured(made, wanted, questions).without_timings()
    questions, made = list(questions), list(made)
    shuffle.shuffle(questions)
    shuffle.shuffle(made)
    other = measured(made, wanted, questions).without_timings()
    assert {(r.question, r.mode): r for r in one.rows} == {
        (r.question, r.mode): r for r in other.rows
    }
    assert summarise(one) == summarise(other)


@given(worlds())
@settings(max_examples=15)
def test_saved_and_loaded_it_is_equal(world):
    evaluation = measured(*world)
    assert Evaluation.from_json(evaluation.to_json()) == evaluation


@given(worlds(), st.integers(0, 6))
@settings(max_examples=15)
def test_stopped_and_resumed_it_is_the_same(world, after):
    asked_so_far = iter(range(1_000))
    stopped = measured(*world, cancelled=lambda: next(asked_so_far) >= 12 * after)
    resumed = measured(*world, earlier=stopped)
    assert resumed.finished
    assert resumed.without_timings() == measured(*world).without_timings()


@given(worlds(chunk_overlap=0))
@settings(max_examples=15)
def test_alone_a_document_is_asked_as_if_there_were_no_other(world):
    made, wanted, questions = world
    together = measured(made, wanted, questions, scope="document").without_timings()
    for q in questions:
        own = [d for d in made if d.name == q.document]
        alone = measured(own, wanted, [q]).without_timings()
        assert [r for r in together.rows if r.question == q.id] == list(alone.rows)


# What counts, and what does not.


def test_a_quote_that_stands_nowhere_is_reported_and_never_counted():
    fee = QUESTIONS[0]
    more = replace(fee, references=(*fee.references, Reference(quote="the moon is a harbour")))
    nowhere = Question("nowhere", "Why?", "rules.md", (Reference(quote="not there"),))
    elsewhere = Question("elsewhere", "Why?", "other.md", (Reference(start=0, end=3),))
    bare = Question("bare", "Why?", "rules.md")
    evaluation = small(questions=[more, nowhere, elsewhere, bare])
    assert [a.id for a in evaluation.measured] == ["fee"]
    assert evaluation.rows[0].recall == small(questions=[fee]).rows[0].recall
    assert evaluation.rows[0].lost["20"][1] == "" and evaluation.asked[0].unfound == (1,)
    said = summary_json(evaluation, summarise(evaluation))
    assert [(u["question"], u["quote"]) for u in said["unfound"]] == [
        ("fee", "the moon is a harbour"),
        ("nowhere", "not there"),
        ("elsewhere", ""),
    ]
    why = {s["question"]: s["why"] for s in said["skipped"]}
    assert why.keys() == {"nowhere", "elsewhere", "bare"}
    assert "other.md" in why["elsewhere"] and "names no evidence" in why["bare"]


@pytest.mark.parametrize(
    ("named", "reference", "said"),
    [
        ("rules.md", Reference(page=2), "it names a page, and rules.md has none"),
        ("other.md", Reference(quote="The fee"), "there is no document named other.md"),
        ("rules.md", Reference(start=5, end=9_999), "past the end of rules.md"),
        ("rules.md", Reference(quote="The moon"), "none of its evidence stands in rules.md"),
        ("pages.pdf", Reference(page=7), "it names page 7, and pages.pdf has 1"),
        ("", Reference(page=1), "does not say in which document"),
    ],
)
def test_why_evidence_is_not_found_is_said_of_its_kind(named, reference, said):
    rules = document("The fee is fourteen euros.", "rules.md")
    pages = document("The fee is five.", "pages.pdf", pages=(Page(1, 0, 16),))
    question = Question("q", "What is the fee?", named, (reference,))
    assert said in prepared(question, (rules, pages), "corpus").asked.skipped


def test_a_page_without_text_was_lost_by_extraction():
    text = "The fee is fourteen euros.\n\nThe deposit is refunded."
    scanned = document(
        text, "scan.pdf", pages=(Page(1, 0, 28), Page(2, 28, 28), Page(3, 28, len(text)))
    )
    on_page = Question("p", "What is the fee?", "scan.pdf", (Reference(page=2), Reference(page=1)))
    alone = Question("q", "What is the fee?", "scan.pdf", (Reference(page=2),))
    evaluation = evaluate(
        pipeline(), index([scanned], SMALL), [on_page, alone], MODES, SMALL, (400,)
    )
    both, only = evaluation.by_mode["no_rerank"]["p"], evaluation.by_mode["no_rerank"]["q"]
    assert both.lost["400"] == ("extraction", "") and both.recall["400"] == 1
    assert only.lost["400"] == ("extraction",) and only.recall["400"] == 0
    assert not both.complete(400) and not only.complete(400)
    assert not any(a.skipped or a.unfound for a in evaluation.asked)


def test_what_the_principal_may_not_read_was_lost_by_access():
    secret = document(RULES.text, "secret.md", Access(tenant="north"))
    questions = [asked("s", "What is the annual fee?", secret, "annual fee"), QUESTIONS[3]]
    for scope in ("corpus", "document"):
        evaluation = evaluate(
            pipeline(),
            index([secret, NOTES], SMALL),
            questions,
            MODES,
            SMALL,
            (60,),
            scope,
            principal=Principal("south"),
        )
        for mode in MODES:
            rows = evaluation.by_mode[mode]
            assert rows["s"].lost["60"] == ("access",) and rows["s"].recall["60"] == 0
            assert rows["rate"].lost["60"] != ("access",)
        assert evaluation.finished


def test_thresholds_take_part_where_they_are_set():
    strict = SMALL.changed(relevance_threshold=1.0)
    made = index([RULES, NOTES], strict)
    evaluation = evaluate(pipeline(), made, QUESTIONS, MODES[1:], strict, (60,))
    assert {stage for r in evaluation.rows for stage in r.lost["60"]} <= {
        "relevance",
        "first_stage",
        "extend",
    }
    assert not any(v for r in evaluation.rows for v in r.recall.values())
    assert summarise(evaluation).modes[MODES[1]].outcomes == {"insufficient_evidence": 4}


def test_dropped_duplicates_are_lost_at_their_stage():
    twin = document("Unlike. " + RULES.text, "twin.md")
    asks = [
        asked(f"{d.name}", "When is the deposit refunded?", d, "refunded within seven")
        for d in (RULES, twin)
    ]
    wanted = SMALL.changed(dedup_method="overlap", protect_exceptions=False, candidate_k=10)
    evaluation = evaluate(
        pipeline(), index([RULES, twin], wanted), asks, ["no_rerank"], wanted, (200,)
    )
    assert sorted(r.lost["200"][0] for r in evaluation.rows) == ["", "dedup"]
    for row in evaluation.rows:
        said = (0,) if row.lost["200"][0] else ()
        assert row.repeated["200"] == said, "its words are shown where the copy stands"
    assert summarise(evaluation).modes["no_rerank"].repeated == {"200": 1}


@given(worlds())
@settings(max_examples=30)
def test_what_is_said_elsewhere_is_lost_at_its_place_and_shown_at_another(world):
    made, wanted, questions = world
    built = index(made, wanted)
    evaluation = measured(*world)
    roomy = wanted.changed(evidence_budget=max(BUDGETS), window_tokens=ROOMY)
    for row in evaluation.rows:
        (q,) = [q for q in questions if q.id == row.question]
        (of,) = [d for d in made if d.name == q.document]
        order = pipeline().run(built, q.text, roomy, row.mode).stage("diversity").kept
        for b in BUDGETS:
            assert all(row.lost[str(b)][i] for i in row.repeated[str(b)])
            shown = within_budget(map(built.chunk, order), b)
            said = " ".join(" ".join(c.text for c in shown).split())
            for i, lost_at in enumerate(row.lost[str(b)]):
                r = q.references[i]
                (*inside,) = [c for c in built.chunks if c.document_id == of.id and c.start <= r.start and r.end <= c.end]  # fmt: skip
                words = " ".join(of.text[r.start : r.end].split())
                if lost_at and inside and words:
                    found = any(words in " ".join(c.text.split()) for c in shown)
                    assert (i in row.repeated[str(b)]) == found
                if i in row.repeated[str(b)] and inside:
                    assert words in said


def test_a_piece_goes_to_the_stage_that_lost_most_of_it():
    """One piece over three chunks: one shown, the longest lost by the budget."""
    made = index([RULES], SMALL)
    q = Question("all", "annual fee", "rules.md", (Reference(start=0, end=len(RULES.text)),))
    wanted = SMALL.changed(candidate_k=1)
    evaluation = evaluate(pipeline(), made, [q], ["no_rerank"], wanted, (200,))
    (row,) = evaluation.rows
    assert 0 < row.recall["200"] < 1 and row.lost["200"] == ("first_stage",)
    wide = SMALL.changed(candidate_k=1, extend_threshold=0.0, max_radius=1)
    evaluation = evaluate(pipeline(), made, [q], ["extend_rerank"], wide, (200,))
    (row,) = evaluation.rows
    assert row.lost["200"] == ("first_stage",), "beyond the radius no window could reach"


def test_losses_and_their_questions_agree():
    evaluation = small(budgets=(20,))
    for mode in MODES:
        listed = lost_questions(evaluation, mode, 20)
        figures = summarise(evaluation).modes[mode]
        assert figures.lost["20"] == {s: sum(map(len, q.values())) for s, q in listed.items()}
        missing = {r.question for r in evaluation.rows if r.mode == mode and not r.complete(20)}
        assert {q for of in listed.values() for q in of} == missing
        assert figures.complete["20"].mean == 1 - len(missing) / len(QUESTIONS)


# What it refuses.


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"questions": []}, EvaluationError, "no questions"),
        ({"modes": []}, EvaluationError, "none"),
        ({"modes": ["best"]}, SettingsError, "no such mode"),
        ({"budgets": []}, EvaluationError, "none"),
        ({"budgets": [0]}, EvaluationError, "not positive"),
        ({"budgets": [300_000]}, SettingsError, "out of range"),
        ({"scope": "page"}, EvaluationError, "no such scope"),
        ({"questions": [QUESTIONS[0], QUESTIONS[0]]}, QuestionSetError, "two questions"),
    ],
)
def test_bad_input(more, error, said):
    with pytest.raises(error, match=said):
        small(**more)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"budgets": (20, 61)}, r"budgets 20\+60 in it, 20\+61 now"),
        ({"scope": "document"}, "scope corpus in it, document now"),
        ({"principal": Principal("south")}, "rights"),
    ],
)
def test_what_measured_something_else_is_not_taken_over(more, said):
    with pytest.raises(EvaluationError, match=said):
        small(earlier=small(), **more)


def test_with_other_models_nothing_is_taken_over_and_that_is_told():
    done, told = small(), []
    other = replace(done, models={"encoder": "elsewhere", "listwise": "gone"}, seconds=9e9)
    again = small(earlier=other, told=told.append)
    assert again.without_timings() == done.without_timings() and again.seconds < 9e9
    (taken,) = told
    assert not taken.rows and taken.loses
    assert "another encoder model" in taken.differences
    assert "the piecewise model in one alone" in taken.differences


def test_a_question_that_now_reads_otherwise_is_asked_again():
    before = small()
    changed = replace(QUESTIONS[0], text="Who pays the fee?")
    after = small(questions=[changed, *QUESTIONS[1:]], earlier=before)
    assert after.without_timings() == small(questions=[changed, *QUESTIONS[1:]]).without_timings()
    more = small(modes=[*MODES, "bm25_top_k"], earlier=before)
    assert more.finished and len(more.rows) == 3 * len(QUESTIONS)


def test_progress_and_saving(monkeypatch):
    monkeypatch.setattr("core.evaluate.run.SAVE_SECONDS", -1.0)
    said, saved = [], []
    small(progress=lambda *words: said.append(words), save=saved.append)
    assert said == [(0, 4, ""), *((n, 4, q.id) for n, q in enumerate(QUESTIONS, 1))]
    assert [len(e.rows) for e in saved] == [2, 4, 6, 8]
    assert not saved[0].finished and saved[-1].finished


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda text: "{", "not JSON"),
        (lambda text: "[1]", "not a saved evaluation"),
        (lambda text: text.replace('"schema": 1', '"schema": 9'), "schema version 9"),
        (lambda text: text.replace('"mode": "no_rerank"', '"mode": "best"'), "damaged"),
        (lambda text: text.replace('"scope": "corpus"', '"scope": "page"'), "damaged"),
        (lambda text: text.replace('"recall": {"20": ', '"recall": {"20": 7'), "damaged"),
        (lambda text: text.replace('"asked": [', '"asked": ["x", '), "damaged"),
    ],
)
def test_a_file_that_is_no_evaluation(spoil, said):
    text = small().to_json()
    assert spoil(text) != text
    with pytest.raises(EvaluationError, match=said):
        Evaluation.from_json(spoil(text))
