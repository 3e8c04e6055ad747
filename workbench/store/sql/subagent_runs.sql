-- What each sub-agent was asked, did and answered, the newest first. Output tokens are its own model calls'.
with said as (
    select
        session_id,
        agent_id,
        arg_min(text, seq) filter (role = 'user') as task,
        arg_max(text, seq) filter (role = 'assistant' and text != '') as answer,
        count(*) filter (role = 'assistant') as responses,
        min(occurred_at) as started_at,
        max(coalesce(ended_at, occurred_at)) as ended_at,
        any_value(model) as model,
        arg_min(event_id, seq) as event_id
    from turns semi join sessions using (session_id)
    where agent_id is not null
    group by session_id, agent_id
),

called as (
    select session_id, agent_id, count(*) as tool_calls, count(*) filter (is_error) as tool_errors
    from tool_calls semi join sessions using (session_id)
    where agent_id is not null
    group by session_id, agent_id
),

used as (
    select session_id, agent_id, sum(output_tokens) as output_tokens
    from usage semi join sessions using (session_id)
    where agent_id is not null
    group by session_id, agent_id
)

select
    session_id,
    agent_id,
    event_id,
    left(task, 2000) as task,
    left(answer, 2000) as answer,
    model,
    started_at,
    greatest(0, epoch_ms(ended_at) - epoch_ms(started_at)) as duration_ms,
    coalesce(responses, 0) as responses,
    coalesce(tool_calls, 0) as tool_calls,
    coalesce(tool_errors, 0) as tool_errors,
    output_tokens
from said full join called using (session_id, agent_id) left join used using (session_id, agent_id)
order by started_at desc nulls last, session_id, agent_id
