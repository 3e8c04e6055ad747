-- Sessions, each with its newest replay under the context engine of one prompt an exchange; nulls where there is none.
-- `is_outdated` where the session was imported again since, or has another number of exchanges by now.
with newest as (
    select *
    from replays
    where mode = 'engine' and level = 'exchange'
    qualify row_number() over (partition by session_id order by recorded_at desc, replay_id desc) = 1
),

exchanges as (
    select session_id, count(*) as exchanges
    from turn_records semi join sessions using (session_id)
    where turn >= 1
    group by session_id
),

imports as (
    select session_id, max(imported_at) as imported_at
    from sources semi join sessions using (session_id)
    group by session_id
)

select
    s.session_id,
    coalesce(l.title, s.title) as title,
    s.agent,
    s.started_at,
    coalesce(e.exchanges, 0) as exchanges,
    n.replay_id,
    n.policy_id,
    n.embedder,
    n.code_version,
    n.replay_id is not null
        and (n.prompts != coalesce(e.exchanges, 0) or coalesce(i.imported_at > n.recorded_at, false)) as is_outdated
from sessions s
left join session_labels l using (session_id)
left join exchanges e using (session_id)
left join imports i using (session_id)
left join newest n using (session_id)
order by s.started_at desc nulls last, s.session_id
