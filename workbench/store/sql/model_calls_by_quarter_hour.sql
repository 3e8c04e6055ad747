-- Model calls and their tokens by quarter of an hour (UTC) and model; quarter_at is null where no time was recorded.
--
-- Every time zone's days begin at a quarter of an hour, so local days can be summed from this. A call that several
-- sessions tell of, as a resumed one does, counts once: where its output is largest.
with calls as (
    select *
    from usage semi join sessions using (session_id)
    qualify row_number() over (
        partition by
            coalesce(message_id, call_id),
            request_id,
            case when message_id is null or request_id is null then session_id end
        order by output_tokens desc nulls last, session_id, call_id
    ) = 1
)

select
    time_bucket(interval 15 minutes, occurred_at) as quarter_at,
    model,
    count(*) as calls,
    sum(input_tokens) as input_tokens,
    sum(output_tokens) as output_tokens,
    sum(cache_read_tokens) as cache_read_tokens,
    sum(cache_write_tokens) as cache_write_tokens
from calls
group by all
order by quarter_at nulls last, model nulls last
