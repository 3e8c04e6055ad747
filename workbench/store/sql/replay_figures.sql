-- What replays show, one row a replay, the newest of a session under each policy, mode and level alone: figures a
-- prompt, so that long sessions do not outweigh short ones. Null is what classic mode does not have.
select
    r.replay_id,
    r.session_id,
    r.mode,
    r.level,
    r.policy_id,
    coalesce(r.embedder, 'none') as embedder,
    count(*) as prompts,
    avg(c.raw_tokens) as raw_tokens_per_prompt,
    avg(c.pressure) as pressure_per_prompt,
    avg((c.raw_tokens > c.usable_tokens)::int) as over_full_per_prompt,
    avg(c.raw_tokens / greatest(c.classic_tokens, 1)) as part_of_classic,
    avg(case when c.mode = 'engine' then (c.pressure_mode != 'normal')::int end) as tight_per_prompt,
    avg(c.units_included) as units_included_per_prompt,
    avg(case when c.units > 0 then c.units_included / c.units end) as inclusion_rate,
    avg(case when c.mode = 'engine' then len(c.hydrated) end) as hydrated_per_prompt
from (
    select *
    from replays
    qualify row_number() over (
        partition by session_id, mode, level, policy_id, embedder
        order by recorded_at desc, replay_id desc
    ) = 1
) r
join compiles c using (replay_id)
group by all
order by r.session_id, r.replay_id
