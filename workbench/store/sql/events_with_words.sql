-- Prompts, responses and tool calls whose text holds each of $words (lower case), the newest $most first.
with texts as (
    select
        session_id,
        event_id,
        case when role = 'user' then 'prompt' else 'response' end as kind,
        occurred_at,
        text || coalesce(chr(10) || thinking, '') as body
    from turns semi join sessions using (session_id)
    union all
    select session_id, call_event_id, 'tool', called_at, tool || ' ' || input || coalesce(chr(10) || result, '')
    from tool_calls semi join sessions using (session_id)
),

found as (
    select *, instr(lower(body), ($words::varchar[])[1]) as place
    from texts
    where len(list_filter($words::varchar[], lambda word: not contains(lower(body), word))) = 0
)

select session_id, event_id, kind, occurred_at, body[greatest(1, place - 80):place + 140] as excerpt
from found
order by occurred_at desc nulls last, session_id, event_id
limit $most
