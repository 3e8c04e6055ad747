-- Every vault, as its newest run left it; the view `vaults`.
select *
from vault_runs
qualify row_number() over (partition by vault_id order by recorded_at desc, run_id desc) = 1
