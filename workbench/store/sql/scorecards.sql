-- What the recorded events of each session show, one row a session: the counts behind the view `scorecards`, which puts
-- null where records of the format cannot show a metric (`store/tables/metrics.py`).
--
-- final: the last exchange came to its end. It was interrupted; or the last thing in it is an answer of the agent that
-- calls no tool (Aider and SWE-agent act in the answer itself), and no call waits for its result.
-- Tools go by the names of `experiments/foreign_tools.py`.
with kinds as (
    select
        unnest(['bash', 'shell', 'run_shell_command', 'exec_command', 'local_shell', 'execute_bash', 'run_terminal_cmd',
            'shell_command', 'container.exec', 'bash_tool', 'powershell']) as tool,
        'shell' as kind
    union all
    select unnest(['read', 'read_file', 'view', 'view_file', 'cat', 'open', 'open_file', 'notebookread']), 'read_file'
    union all
    select unnest(['write', 'write_file', 'create', 'create_file']), 'write_file'
    union all
    select
        unnest(['edit', 'multiedit', 'edit_file', 'replace', 'str_replace', 'str_replace_editor',
            'str_replace_based_edit_tool', 'notebookedit', 'apply_patch', 'insert']),
        'edit_file'
),

calls as (
    select
        t.session_id,
        t.seq,
        t.agent_id,
        t.tool,
        t.status,
        t.artifact_id,
        t.result_tokens,
        case when k.kind = 'shell' then t.command end as command,
        case
            when starts_with(t.tool, 'str_replace') and t.command = 'view' then 'read_file'
            when starts_with(t.tool, 'str_replace') and t.command = 'create' then 'write_file'
            else k.kind
        end as kind,
        case
            when s.cwd is null or starts_with(t.file_path, '/') or regexp_matches(t.file_path, '^([A-Za-z]:|\\\\)')
                then t.file_path
            else s.cwd || '/' || t.file_path
        end as path,
        -- the name of the skill is an argument, and arguments are long: only these are looked into
        case
            when t.tool = 'Skill' then coalesce(t.input ->> '$.skill', t.input ->> '$.command')
            when t.tool = 'load_skill' then coalesce(t.input ->> '$.skill_id', t.input ->> '$.name')
        end as skill
    from tool_calls t
    join sessions s using (session_id)
    left join kinds k on k.tool = lower(t.tool)
),

placed as (
    select
        *,
        kind = 'read_file' and status = 'ok' and path is not null as is_read,
        kind = 'shell' and command is not null as is_command,
        kind = 'shell' and regexp_matches(
            command,
            '\b(pytest|vitest|jest|rspec|phpunit|ctest|tox|nox|(npm|pnpm|yarn|bun|cargo|go|dotnet|mix|deno|swift|flutter)( run)? test|(mvn|mvnw|gradle|gradlew)\b.*\btest|make (test|check)|python3? -m (unittest|pytest))\b',
            'i'
        ) as is_test,
        tool in ('Skill', 'load_skill') and status = 'ok' as is_load
    from calls
),

counted as (
    select
        *,
        row_number() over (partition by session_id, agent_id, is_read, path order by seq) as nth_read,
        row_number() over (partition by session_id, agent_id, is_command, status, command order by seq) as nth_command
    from placed
),

did as (
    select
        session_id,
        count(*) as tool_calls,
        count(*) filter (status = 'error') as failed_calls,
        count(*) filter (status = 'rejected') as rejected_calls,
        count(*) filter (is_read) as file_reads,
        count(*) filter (is_read and nth_read > 1) as repeat_file_reads,
        count(*) filter (kind in ('edit_file', 'write_file') and status = 'ok') as edits,
        count(*) filter (is_command and status = 'error' and nth_command > 1) as repeat_failed_commands,
        count(*) filter (is_test) as test_runs,
        count(*) filter (is_test and status = 'error') as failed_test_runs,
        count(*) filter (tool in ('Task', 'Agent', 'spawn_agent')) as subagent_calls,
        count(*) filter (tool = 'retrieve_artifact' and status = 'ok') as artifact_retrieve_calls,
        count(*) filter (artifact_id is not null and tool not in ('retrieve_artifact', 'load_skill'))
            as artifact_cards_produced,
        count(*) filter (tool = 'search_turn_events') as turn_event_searches,
        count(*) filter (tool = 'recall') as recall_calls,
        count(distinct skill) filter (is_load) as skills_loaded,
        count(*) filter (is_load) as skill_load_events,
        count(*) filter (is_load) - count(distinct skill) filter (is_load) as skill_reload_count,
        coalesce(sum(result_tokens) filter (is_load), 0)::bigint as skill_tokens_consumed
    from counted
    group by session_id
),

exchanges as (
    select
        session_id,
        count(*) as total_turns,
        sum(duration_ms)::bigint as active_ms,
        max(turn) as last_turn,
        arg_max(is_interrupted, turn) as is_interrupted
    from turn_records
    group by session_id
),

waiting as (
    select t.session_id, count(*) as open_calls
    from tool_calls t
    join exchanges e on e.session_id = t.session_id and e.last_turn = t.turn
    where t.status = 'open' and not t.is_sidechain
    group by t.session_id
),

said as (
    select
        session_id,
        arg_max(role, sequence_number) as role,
        arg_max(is_error, sequence_number) as is_error,
        arg_max(tool_calls, sequence_number) as tool_calls
    from turns
    where not is_sidechain
    group by session_id
),

answered as (
    select session_id, arg_min(model, (-responses, model)) as model
    from (
        select session_id, model, count(*) as responses
        from turns
        where role = 'assistant' and not is_sidechain and not is_error and model is not null
        group by session_id, model
    )
    group by session_id
),

compiled as (
    -- prompts that a session run here was given, else those of its newest replay under the engine
    select c.session_id, c.replay_id, c.level, c.policy_id, c.task_type, c.turn, c.step, c.units, c.units_included, c.pressure_mode
    from compiles c
    left join replays r using (replay_id)
    where c.mode = 'engine' and (c.replay_id is null or r.replay_id is not null)
    qualify
        dense_rank() over (
            partition by c.session_id
            order by c.replay_id is not null, r.recorded_at desc, c.replay_id desc
        ) = 1
),

risen as (
    select
        *,
        case pressure_mode when 'emergency' then 2 when 'compact' then 1 else 0 end as tightness,
        tightness > lag(tightness, 1, 0) over (partition by session_id order by turn, step) as is_risen
    from compiled
),

prompted as (
    select
        session_id,
        any_value(replay_id) as replay_id,
        any_value(level) as compile_level,
        any_value(policy_id) as policy_id,
        arg_max(task_type, (turn, step)) filter (replay_id is null) as task_type,
        count(*) as compiled_prompts,
        count(*) filter (is_risen) as pressure_events,
        count(*) filter (units_included < units) as compaction_triggers
    from risen
    group by session_id
),

made_up as (
    -- what Claude Code itself writes in a model's place, such as an error of the network
    select session_id, count(*) as calls from usage where model = '<synthetic>' group by session_id
),

counts as (
    select session_id, coalesce(columns(* exclude (session_id)), 0)
    from (select session_id from sessions) left join did using (session_id)
)

select
    s.session_id,
    s.agent,
    f.format,
    coalesce(l.project, s.project_id) as project_id,
    coalesce(l.title, s.title) as title,
    l.tags,
    l.arm,
    s.started_at,
    s.ended_at,
    coalesce(
        e.is_interrupted
        or (
            t.role = 'assistant' and not t.is_error and w.open_calls is null
            and (t.tool_calls = 0 or f.format in ('aider', 'swe-agent'))
        ),
        false
    ) as final,
    a.model,
    s.agent_version as version,
    case when p.replay_id is null then p.policy_id end as config_hash,
    p.task_type,
    coalesce(e.total_turns, 0) as total_turns,
    c.* exclude (session_id),
    s.interrupts as interruptions,
    s.compactions,
    case when s.model_calls > 0 then s.model_calls - coalesce(m.calls, 0) end as model_calls,
    s.input_tokens,
    s.output_tokens,
    s.cache_read_tokens,
    s.cache_write_tokens,
    s.duration_ms,
    e.active_ms,
    p.policy_id,
    p.replay_id,
    p.compile_level,
    p.compiled_prompts,
    p.pressure_events,
    p.compaction_triggers
from sessions s
join counts c using (session_id)
left join session_states f using (session_id)
left join session_labels l using (session_id)
left join exchanges e using (session_id)
left join said t using (session_id)
left join answered a using (session_id)
left join waiting w using (session_id)
left join prompted p using (session_id)
left join made_up m using (session_id)
order by s.session_id
