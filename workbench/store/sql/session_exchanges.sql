-- Every exchange of each session: what was asked, what was answered last, and what happened between, texts cut at
-- $characters.
select
    session_id,
    turn,
    started_at,
    duration_ms,
    left(user_text, $characters) as asked,
    length(user_text) as asked_length,
    left(assistant_text, $characters) as answered,
    length(assistant_text) as answered_length,
    responses,
    tool_calls,
    tool_errors,
    output_tokens,
    is_interrupted,
    is_compacted
from turn_records semi join sessions using (session_id)
order by session_id, turn
