-- Every session with its title and the project it counts for: those of its label, where people gave it one. cwd is the
-- project's folder: the first, in order of the alphabet, that a session of it names; null for a project of labels alone.
with named as (
    select
        s.session_id,
        coalesce(l.title, s.title) as title,
        coalesce(l.project, s.project_id) as project_id,
        case when l.project is null or l.project = s.project_id then s.cwd end as cwd
    from sessions s
    left join session_labels l using (session_id)
)

select session_id, title, project_id, min(cwd) over (partition by project_id) as cwd
from named
order by session_id
