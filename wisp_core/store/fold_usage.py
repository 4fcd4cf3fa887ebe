"""The fold's part for what providers report: a thread's totals, and a model's latest count of a prompt. Pure."""

from wisp_core.event_shape import UsageData
from wisp_core.records import Plan, Report, ThreadRecord, Usage
from wisp_core.store.carried_rows import LARGEST


def count_usage(record: ThreadRecord, usage: UsageData | None) -> None:
    """Count an answered request and what its provider reported of it."""
    totals = record.totals
    totals.requests += 1
    record.last_usage = None
    if usage is not None:
        record.last_usage = Usage(usage.prompt, usage.completion, usage.total, usage.cached)
        totals.prompt += usage.prompt or 0
        totals.completion += usage.completion or 0
        totals.total += usage.total or 0
        totals.cached += usage.cached or 0


def keep_report(record: ThreadRecord, plan: Plan, *, prompt: int | None) -> int | None:
    """Keep what the provider counted of a request as its model's latest, and return it where there is such a count.

    A plan that does not say its bytes is an older wisp's, of which no report was kept.
    """
    prompt = countable(prompt)
    if not (prompt and plan.bytes):
        return None
    record.reports[plan.model] = Report(prompt, plan.bytes)
    return prompt


def countable(number: int | None) -> int | None:
    """Return a count from outside, None where it is none: what no row could hold would end the thread."""
    return number if number is not None and 0 <= number <= LARGEST else None
