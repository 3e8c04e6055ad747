-- Files that tools read or wrote, by how many exchanges and sessions did so, the most written first. A file is told by
-- its path in the session's folder where it lies there.
with touched as (
    select t.session_id, t.turn, unnest(t.files_read) as path, true as is_read, s.cwd, s.project_id
    from turn_records t join sessions s using (session_id)
    union all
    select t.session_id, t.turn, unnest(t.files_written) as path, false as is_read, s.cwd, s.project_id
    from turn_records t join sessions s using (session_id)
)

select
    case when starts_with(path, cwd || '/') then path[length(cwd) + 2:] else path end as file,
    project_id,
    any_value(cwd) as cwd,
    count(*) filter (not is_read) as exchanges_wrote,
    count(*) filter (is_read) as exchanges_read,
    count(distinct session_id) as sessions
from touched
group by file, project_id
order by exchanges_wrote desc, exchanges_read desc, file, project_id
