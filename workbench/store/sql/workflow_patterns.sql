-- Ways of working that recur, with the number of sessions that went so; the view `workflow_patterns`.
--
-- A pattern is a task type, the tools used, and the kinds of large output. One that was not seen for keep_days before the
-- end of any session is forgotten then, and counts from 1 when it comes back. as_of: the end of the newest session.
with rules as (
    select 30.0 as keep_days, (select max(seen_at) from session_patterns) as as_of
),

current as (
    select p.*
    from session_patterns p
    join session_states s using (session_id, state)
    where p.seen_at <= (select as_of from rules)
    qualify row_number() over (partition by p.session_id order by p.recorded_at desc, p.rules) = 1
),

seen as (
    select
        *,
        -- a session that ends later than keep_days after the last hit forgets the pattern, whatever it is itself
        epoch(seen_at - lag(seen_at) over pattern) > (select keep_days from rules) * 86400 as is_new
    from current
    where pattern_id is not null
    window pattern as (partition by task_type, tool_sequence, artifact_types order by seen_at, session_id)
),

runs as (
    select *, count(*) filter (is_new) over (
        partition by task_type, tool_sequence, artifact_types order by seen_at, session_id
    ) as run
    from seen
)

select
    any_value(pattern_id) as pattern_id,
    task_type,
    tool_sequence,
    artifact_types,
    count(*) as hit_count,
    max(seen_at) as last_seen_at,
    min(seen_at) as created_at
from runs
group by task_type, tool_sequence, artifact_types, run
having epoch((select as_of from rules) - max(seen_at)) <= (select keep_days from rules) * 86400
qualify run = max(run) over (partition by task_type, tool_sequence, artifact_types)
order by hit_count desc, last_seen_at desc, pattern_id
