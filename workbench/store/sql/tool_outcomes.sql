-- What became of the calls of each tool. rejected: a person said no; failed: anything else that went wrong;
-- unanswered: there is no result.
select
    tool,
    count(*) as calls,
    count(distinct session_id) as sessions,
    count(*) filter (is_sidechain) as sidechain_calls,
    count(*) filter (status = 'error') as failed,
    count(*) filter (status = 'rejected') as rejected,
    count(*) filter (status = 'open') as unanswered,
    quantile_disc(duration_ms, 0.5) as median_ms,
    quantile_disc(duration_ms, 0.9) as p90_ms
from tool_calls semi join sessions using (session_id)
group by tool
order by calls desc, tool
