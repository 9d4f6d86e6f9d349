"""Tiny models that bring code of their own, loaded as transformers loads such code from anyone."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

from tests.models.tiny import save_encoder

CODE = '''
import torch
from transformers import BertModel, BertPreTrainedModel
from transformers.utils import ModelOutput
from dataclasses import dataclass


@dataclass
class Tokens(ModelOutput):
    compression_logits: torch.Tensor = None
    ranking_scores: torch.Tensor = None


class Ranker(BertPreTrainedModel):
    """Scores the documents of a list by their first token; each also hears of those before it."""

    def __init__(self, config):
        super().__init__(config)
        self.bert = BertModel(config)
        self.classifier = torch.nn.Linear(config.hidden_size, 2)
        self.post_init()

    def forward(self, input_ids, attention_mask=None, token_type_ids=None):
        states = self.bert(
            input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        logits = self.classifier(states)
        return Tokens(compression_logits=logits, ranking_scores=logits[:, 0, 1])

    ANSWER

    def one(self, query, document):
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(self.config._name_or_path)
        read = tokenizer(query, document, return_tensors="pt", truncation=True, max_length=62)
        return float(self(**read).ranking_scores[0])
'''

ANSWER = """
    def rerank(self, query, documents, top_n=None, max_doc_length=40):
        heard, out = 0.0, []
        for i, document in enumerate(documents):
            score = self.one(query, document) + 0.25 * heard
            heard = score
            out.append({"document": document, "index": i, "relevance_score": score})
        return sorted(out, key=lambda r: -r["relevance_score"])[:top_n]
"""


def save_remote(folder: Path, answer: str = ANSWER, *, mark: str = "") -> Path:
    """Saves a random model whose class is in its own folder.

    Args:
        answer: its method ``rerank``, in place of one that does what it should.
        mark: a file that its code makes when it is imported.
    """
    import torch
    from safetensors.torch import load_file, save_file

    save_encoder(folder, "bert")
    touch = f"open({mark!r}, 'w').close()\n" if mark else ""
    method = textwrap.indent(textwrap.dedent(answer), "    ")
    (folder / "ranking.py").write_text(touch + CODE.replace("    ANSWER", method))
    config = json.loads((folder / "config.json").read_text())
    config |= {"architectures": ["Ranker"], "auto_map": {"AutoModel": "ranking.Ranker"}}
    (folder / "config.json").write_text(json.dumps(config))
    weights = load_file(folder / "model.safetensors")
    torch.manual_seed(3)
    named = {f"bert.{k}": v for k, v in weights.items()}
    named |= {"classifier.weight": torch.randn(2, 16), "classifier.bias": torch.randn(2)}
    save_file(named, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


def direct_scores(folder: Path, query: str, documents: list[str]) -> list[float]:
    """What the model's rule gives, by a plain BERT of transformers and the two weights."""
    logits = [token_logits(folder, query, d)[0][1] for d in documents]
    out, heard = [], 0.0
    for own in logits:
        heard = own + 0.25 * heard
        out.append(heard)
    return out


def token_logits(folder: Path, query: str, text: str) -> list[list[float]]:
    """[l][2]: the logits of each token of the pair, by a plain BERT."""
    import torch
    from safetensors.torch import load_file
    from transformers import AutoTokenizer, BertConfig, BertModel

    weights = load_file(folder / "model.safetensors")
    bert = BertModel(BertConfig.from_pretrained(folder)).eval()
    bert.load_state_dict({k[5:]: v for k, v in weights.items() if k.startswith("bert.")})
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        read = tokenizer(query, text, return_tensors="pt", truncation=True, max_length=62)
        states = bert(**read).last_hidden_state[0]
        return (states @ weights["classifier.weight"].T + weights["classifier.bias"]).tolist()
