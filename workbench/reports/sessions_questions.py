"""Questions that people ask of their sessions, as SQL to begin with."""

from __future__ import annotations

from typing import Final

QUESTIONS: Final[dict[str, str]] = {
    "Which prompts led to the most failed calls?": """\
select t.session_id, t.turn, t.tool_errors, t.tool_calls, left(t.user_text, 100) as prompt
from turn_records t
where t.tool_errors > 0
order by t.tool_errors desc, t.session_id, t.turn
limit 20""",
    "Which commands does the agent run most, and how often do they fail?": """\
select
    regexp_extract(command, '^\\s*([\\w./-]+)', 1) as program,
    count(*) as calls,
    count(*) filter (is_error) as failed,
    round(median(duration_ms) / 1000, 1) as median_s
from tool_calls
where command is not null
group by program
order by calls desc, program
limit 20""",
    "Which files are read again and again in one session?": """\
select session_id, file_path, count(*) as reads, sum(result_tokens) as tokens_read
from tool_calls
where tool in ('Read', 'read_file') and file_path is not null
group by session_id, file_path
having count(*) > 1
order by tokens_read desc nulls last, file_path
limit 20""",
    "What fills the context: tokens of results by tool": """\
select tool, count(*) as calls, sum(result_tokens) as result_tokens, max(result_tokens) as largest
from tool_calls
group by tool
order by result_tokens desc nulls last, tool""",
    "How long does the agent work before a person speaks again?": """\
select
    s.agent,
    count(*) as exchanges,
    round(median(t.duration_ms) / 1000) as median_s,
    round(quantile_cont(t.duration_ms, 0.9) / 1000) as p90_s,
    max(t.tool_calls) as most_calls
from turn_records t join sessions s using (session_id)
where t.turn > 0
group by s.agent
order by exchanges desc, s.agent""",
    "How much does the cache save? Input by model and kind": """\
select
    model,
    sum(input_tokens) as fresh,
    sum(cache_write_tokens) as written,
    sum(cache_read_tokens) as read,
    round(100 * read / nullif(coalesce(fresh, 0) + coalesce(written, 0) + coalesce(read, 0), 0), 1) as percent_read
from usage_once
group by model
order by read desc nulls last, model""",
    "What was left open: calls without a result": """\
select session_id, turn, tool, called_at, left(coalesce(command, file_path, input), 120) as what
from tool_calls
where status = 'open'
order by called_at desc nulls last, session_id
limit 20""",
    "Which sessions were compacted, and in which exchange first?": """\
select s.session_id, left(s.title, 80) as title, s.compactions, min(t.turn) as first_in_exchange, s.prompts
from sessions s join turn_records t using (session_id)
where t.is_compacted
group by all
order by s.compactions desc, s.session_id""",
}
"""Each runs by itself in `workbench sql` and in the notebook's SQL cell; a test runs all of them over the samples."""
