-- Every model call once, however many sessions tell of it; the view `usage_once`.
--
-- Message id and request id name a call. A message id without a request id names it inside its session only, since a
-- relay may write one constant id for all its calls; another session's row is the same call if time, model and figures
-- agree too, as in a copied file. A row without a message id, or with neither request id nor time, is a call of its own.
-- A call belongs to the session that began first; its figures are those of the telling with the most output.
with told as (
    select
        u.*,
        s.started_at,
        u.message_id is null or (u.request_id is null and u.occurred_at is null) as is_alone,
        u.request_id is null as is_copied
    from usage u
    join sessions s using (session_id)
),

ranked as (
    select
        *,
        row_number() over telling as nth,
        count(*) over (telling rows between unbounded preceding and unbounded following) as tellings,
        first_value(occurred_at ignore nulls) over (
            telling rows between unbounded preceding and unbounded following
        ) as happened_at,
        first_value({
            'model': model,
            'input_tokens': input_tokens,
            'output_tokens': output_tokens,
            'cache_read_tokens': cache_read_tokens,
            'cache_write_tokens': cache_write_tokens,
            'cache_write_1h_tokens': cache_write_1h_tokens,
            'reasoning_tokens': reasoning_tokens
        }) over (call order by output_tokens desc nulls last, started_at nulls last, session_id) as fullest
    from told
    window
        call as (
            partition by
                case when is_alone then session_id end,
                case when is_alone then call_id end,
                message_id,
                request_id,
                case when is_copied then occurred_at end,
                case when is_copied then model end,
                case when is_copied then input_tokens end,
                case when is_copied then output_tokens end,
                case when is_copied then cache_read_tokens end,
                case when is_copied then cache_write_tokens end
        ),
        telling as (call order by started_at nulls last, session_id)
)

select
    session_id,
    call_id,
    turn,
    event_id,
    happened_at as occurred_at,
    message_id,
    request_id,
    unnest(fullest),
    source_id,
    agent_id,
    is_sidechain,
    tellings
from ranked
where nth = 1
