-- Model calls as the sessions tell of them: a call that several tell of is there for each; `usage_once` has each once.
select u.*
from usage u
semi join sessions using (session_id)
order by session_id, call_id
