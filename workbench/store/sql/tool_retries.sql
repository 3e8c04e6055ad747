-- What came after failed calls, by tool: whether the agent called the tool again in the same exchange, whether with the
-- same arguments, and whether that went well. Rejected calls are a person's doing and are left out.
with calls as (
    select
        tool,
        status,
        input,
        lead(status) over later as next_status,
        lead(input) over later as next_input
    from tool_calls semi join sessions using (session_id)
    where status != 'rejected'
    window later as (partition by session_id, turn, agent_id, tool order by seq)
)

select
    tool,
    count(*) as failed,
    count(next_status) as retried,
    count(*) filter (next_input = input) as unchanged,
    count(*) filter (next_status = 'ok') as recovered
from calls
where status = 'error'
group by tool
order by failed desc, tool
