"""Running out of memory: how it is told from other failures, and what is freed before a retry."""

from __future__ import annotations


def out_of_memory(error: BaseException) -> bool:
    """Whether an error that a forward pass raised means that memory did not suffice."""
    import torch

    if isinstance(error, (MemoryError, torch.OutOfMemoryError)):
        return True
    # torch has no type of its own for this on a CPU.
    said = str(error).lower()
    return isinstance(error, RuntimeError) and any(
        words in said for words in ("out of memory", "not enough memory", "can't allocate memory")
    )


def free_memory() -> None:
    """Lets go of what a failed pass held, as far as Python and the GPU's allocator can."""
    import gc

    import torch

    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.empty_cache()
