-- Everything of each session that a timeline shows, in order: prompts, model responses, tool calls,
-- compactions and interrupts.
--
-- tokens: a response's output as it was billed, or the estimate of its text where that is more (some agents write the
-- line before the count is known); of a prompt and a tool's result the estimate. said: the beginning of the text. seq and chain (the sub-agent, null on the main chain) give the order.
with billed as (
    select session_id, message_id, max(output_tokens) as output_tokens
    from usage semi join sessions using (session_id)
    where message_id is not null
    group by session_id, message_id
),

messages as (
    select
        t.session_id,
        t.event_id,
        t.seq,
        t.turn,
        t.agent_id as chain,
        case when t.role = 'user' then 'prompt' else 'response' end as kind,
        t.occurred_at as began_at,
        coalesce(t.ended_at, t.occurred_at) as ended_at,
        greatest(b.output_tokens, t.tokens) as tokens,
        case when t.role = 'user' then 'prompt' else coalesce(t.model, 'model') end as name,
        left(coalesce(nullif(t.text, ''), t.thinking, ''), 400) as said,
        t.is_error as is_failed,
        case when t.is_error then 'error' else 'ok' end as status
    from turns t
    semi join sessions using (session_id)
    left join billed b on t.role = 'assistant' and b.session_id = t.session_id and b.message_id = t.message_id
),

calls as (
    select
        session_id,
        call_event_id as event_id,
        seq,
        turn,
        agent_id as chain,
        'tool' as kind,
        called_at as began_at,
        coalesce(returned_at, called_at) as ended_at,
        result_tokens as tokens,
        tool as name,
        left(coalesce(command, file_path, input), 400) as said,
        coalesce(is_error, false) as is_failed,
        status
    from tool_calls semi join sessions using (session_id)
),

marks as (
    select
        session_id,
        event_id,
        seq,
        turn,
        agent_id as chain,
        case when kind = 'compaction' then 'compaction' else 'interrupt' end as kind,
        occurred_at as began_at,
        occurred_at as ended_at,
        0 as tokens,
        case when kind = 'compaction' then 'compaction' else 'interrupt' end as name,
        left(coalesce(payload ->> '$.trigger', payload ->> '$.text', ''), 400) as said,
        false as is_failed,
        'ok' as status
    from events semi join sessions using (session_id)
    where
        (kind = 'compaction' and coalesce(payload ->> '$.type', '') != 'summary')
        or (kind = 'system_note' and payload ->> '$.type' = 'turn_interrupted')
)

from messages
union all by name
from calls
union all by name
from marks
order by session_id, seq, kind, event_id
