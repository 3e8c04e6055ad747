-- What was said and done in each session, in order: prompts, responses and tool calls, texts cut at $characters.
--
-- kind: prompt, response or tool. body_length and result_length are those of the whole texts.
select
    session_id,
    seq,
    turn,
    agent_id,
    case when role = 'user' then 'prompt' else 'response' end as kind,
    model as name,
    occurred_at,
    case when is_error then 'error' else 'ok' end as status,
    null::bigint as duration_ms,
    left(text, $characters) as body,
    length(text) as body_length,
    null::varchar as result,
    0 as result_length,
    images
from turns semi join sessions using (session_id)
union all by name
select
    session_id,
    seq,
    turn,
    agent_id,
    'tool' as kind,
    tool as name,
    called_at as occurred_at,
    status,
    duration_ms,
    left(coalesce(command, file_path, input), $characters) as body,
    length(coalesce(command, file_path, input)) as body_length,
    left(result, $characters) as result,
    coalesce(length(result), 0) as result_length,
    0 as images
from tool_calls semi join sessions using (session_id)
order by session_id, seq, kind
