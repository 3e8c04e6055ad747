-- The three commonest first lines of each tool's failures, rejections apart. "Exit code 1" and the tags around an error
-- say nothing, so the line after them stands for them.
with failures as (
    select
        tool,
        session_id,
        trim(regexp_replace(left(result, 4000), '^\s*(Error: )?(Exit code \d+\s+|<tool_use_error>\s*)', '')) as said
    from tool_calls semi join sessions using (session_id)
    where status = 'error'
),

lines as (
    select tool, regexp_replace(regexp_extract(said, '^[^\r\n]*'), '</tool_use_error>\s*$', '') as line, session_id
    from failures
)

select tool, line, count(*) as calls, count(distinct session_id) as sessions, min(session_id) as session_id
from lines
group by tool, line
qualify row_number() over (partition by tool order by calls desc, line) <= 3
order by tool, calls desc, line
