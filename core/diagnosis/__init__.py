"""Why a chunk is missing, and what brings it back."""

from core.diagnosis.answer import PLACES, QUICK, Answer, places, verdicts, why
from core.diagnosis.proposals import Proposal, Proposals, propose
from core.diagnosis.recall import RecallPrice, recall_prices
from core.diagnosis.symptoms import Fault, faults
from core.diagnosis.targets import (
    Target,
    target_of_chunk,
    target_of_evidence,
    target_of_span,
    targets_of_passage,
)
from core.diagnosis.verdicts import ChunkVerdict, Verdict, verdict

__all__ = [
    "PLACES",
    "QUICK",
    "Answer",
    "ChunkVerdict",
    "Fault",
    "Proposal",
    "Proposals",
    "RecallPrice",
    "Target",
    "Verdict",
    "faults",
    "places",
    "propose",
    "recall_prices",
    "target_of_chunk",
    "target_of_evidence",
    "target_of_span",
    "targets_of_passage",
    "verdict",
    "verdicts",
    "why",
]
