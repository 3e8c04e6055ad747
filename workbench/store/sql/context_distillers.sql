-- What distillers made of tool output in some replays ($replay_ids), the largest saving first.
select
    distiller,
    intensity,
    count(*) as runs,
    count(distinct session_id) as sessions,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens
from distiller_stats
where replay_id in (select unnest($replay_ids::varchar[]))
group by distiller, intensity
order by sum(input_tokens) - sum(output_tokens) desc, distiller, intensity
