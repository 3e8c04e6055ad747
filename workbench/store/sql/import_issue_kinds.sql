-- What was not as it should be in the imported files, by kind, with one example each.
select
    issue,
    sum(i.count) as records,
    count(distinct i.source_id) as files,
    count(distinct i.session_id) as sessions,
    arg_min(i.detail, (i.source_id, i.line)) as example,
    arg_min(s.path, (i.source_id, i.line)) as path,
    arg_min(i.line, (i.source_id, i.line)) as line
from import_issues i
semi join sessions using (session_id)
left join sources s on s.source_id = i.source_id
group by issue
order by records desc, issue
