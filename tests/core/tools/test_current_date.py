"""The tool current_date."""

from datetime import UTC, datetime, timedelta, timezone

from wisp_core.tools.current_date import CurrentDate
from wisp_core.tools.registry import Registry


async def said(now):
    tools = Registry([CurrentDate(lambda: now)])
    return (await tools.run("current_date", {}, call="00000001", progress=print)).text


async def test_it_tells_date_time_zone_and_week():
    zone = timezone(timedelta(hours=5, minutes=30), "IST")
    assert await said(datetime(2027, 1, 1, 9, 5, 7, tzinfo=zone)) == (
        "Friday, 2027-01-01, 09:05:07 IST (UTC+05:30), week 53 of 2026"
    )


async def test_in_utc_it_says_so_once():
    assert await said(datetime(2026, 11, 30, 18, 0, tzinfo=UTC)) == "Monday, 2026-11-30, 18:00:00 UTC, week 49 of 2026"
