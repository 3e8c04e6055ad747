-- The format that each session's records are in, and a name for the state of its content: one that grew or was read anew
-- has another. What is kept beside the tables, such as `session_patterns`, tells by it whether it still holds.
with told as (
    select
        session_id,
        min(format) as format,
        string_agg(coalesce(sha256, source_id), ' ' order by source_id) as contents
    from (select unnest(session_ids) as session_id, source_id, format, sha256 from sources)
    group by session_id
)

select
    s.session_id,
    t.format,
    md5(concat_ws(' ', s.events, s.tool_calls, s.tool_errors, t.contents)) as state
from sessions s
left join told t using (session_id)
