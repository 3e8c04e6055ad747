-- Every session with the title that people gave it, and how long something was going on in it.
--
-- active_ms: the time between its events, pauses of more than five minutes left out. A session that was left open over
-- night lasts long (duration_ms) without being long.
with pauses as (
    select
        session_id,
        epoch_ms(occurred_at) - lag(epoch_ms(occurred_at)) over (partition by session_id order by occurred_at) as pause_ms
    from events
    where occurred_at is not null
),

active as (
    select session_id, sum(pause_ms) filter (pause_ms <= 5 * 60 * 1000) as active_ms
    from pauses
    group by session_id
)

select
    s.session_id,
    s.project_id,
    s.agent,
    coalesce(l.title, s.title) as title,
    s.cwd,
    s.started_at,
    s.ended_at,
    s.duration_ms,
    case when s.duration_ms is not null then coalesce(a.active_ms, 0) end as active_ms,
    s.prompts,
    s.responses,
    s.tool_calls,
    s.sidechain_tool_calls,
    s.tool_errors,
    s.subagents,
    s.interrupts,
    s.compactions,
    s.model_calls,
    s.input_tokens,
    s.output_tokens,
    s.cache_read_tokens,
    s.cache_write_tokens,
    s.issues
from sessions s
left join session_labels l using (session_id)
left join active a using (session_id)
order by s.started_at desc nulls last, s.session_id
