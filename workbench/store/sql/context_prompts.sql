-- Prompts of some replays ($replay_ids): what engine and classic would have sent, how tight it was, and its sections.
select
    session_id,
    turn,
    task_type,
    pressure_mode,
    pressure,
    usable_tokens,
    raw_tokens,
    classic_tokens,
    frame_tokens,
    skills_tokens,
    workflow_tokens,
    checkpoint_tokens,
    verbatim_tokens,
    scored_tokens,
    memory_tokens,
    active_state_tokens,
    peripheral_tokens,
    input_tokens,
    units,
    units_included,
    len(hydrated) as hydrated,
    len(cuts) as cuts
from compiles
where replay_id in (select unnest($replay_ids::varchar[])) and mode = 'engine'
order by session_id, turn
