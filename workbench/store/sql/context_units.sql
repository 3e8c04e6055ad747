-- Units on offer in the prompts of some replays ($replay_ids), by kind, age in exchanges, and why they were in or not.
select
    unit_type,
    greatest(turn - source_turn, 0) as age_turns,
    why,
    count(*) as units,
    sum(tokens) as tokens
from unit_scores
where replay_id in (select unnest($replay_ids::varchar[]))
group by all
order by all
