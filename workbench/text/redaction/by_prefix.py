"""Keys that tell themselves by how they begin: one row a vendor.

Columns: name; whose it is; how it begins; the alphabet it goes on in; how many of it at least (below the published
length, so that the next generation is found as well); an example; what else stays.

The shapes are public knowledge: the vendors' documentation, and the rules of gitleaks, trufflehog and detect-secrets.
"""

from __future__ import annotations

import re
from typing import Final

from workbench.text.redaction import shapes
from workbench.text.redaction.rule import Rule, taken_if

# Each alphabet, and whether keys with separators in them are told from words by how random they look, or by a digit.
_ALNUM: Final = ("[A-Za-z0-9_-]", True)  # letters and digits, as published; a separator among them is no end
_WORD: Final = ("[A-Za-z0-9_-]", False)
_DOTTED: Final = ("[A-Za-z0-9_.=-]", False)
_BASE64: Final = ("[A-Za-z0-9+/=_-]", False)
_HEX: Final = ("[0-9a-f]", False)

_ENOUGH: Final = 16
"""Characters behind the beginning that the cheap test looks at."""


def _row(name: str, about: str, begin: str, body: tuple[str, bool], least: int, example: str, *kept: str) -> Rule:
    words = begin.split()
    alphabet, is_strict = body
    in_bytes = alphabet.replace("/", r"/\\")  # JSON may write `\/`

    def is_token(value: str) -> bool:
        rest = value[max(len(word) for word in words if value.startswith(word)) :]
        return shapes.is_token(rest) and (not is_strict or rest.isalnum() or shapes.is_random(rest))

    return Rule(
        name,
        about,
        tuple(words),
        rf"(?:{'|'.join(map(re.escape, words))}){alphabet}{{{least},}}",
        taken_if(is_token),
        (example,),
        (f"keys begin with {words[0]}", f"{words[0]}{'x' * least}", f"{words[0]}your-key-here", *kept),
        after=f"{in_bytes}{{{min(least, _ENOUGH)}}}",
    )


BY_PREFIX: Final = (
    # language models
    _row("anthropic-key", "Anthropic: API, admin, OAuth, session", "sk-ant-", _WORD, 16, "sk-ant-api03-{w93}AA"),
    _row(
        "openai-key",
        "OpenAI: project, service account, admin",
        "sk-proj- sk-svcacct- sk-admin- sk-None-",
        _WORD,
        16,
        "sk-proj-{w74}T3Blbk{w80}",
        "sk-proj-management-and-planning-notes",
    ),
    _row("openrouter-key", "OpenRouter", "sk-or-v1-", _ALNUM, 32, "sk-or-v1-{h64}"),
    _row("huggingface-token", "Hugging Face", "hf_ api_org_", _ALNUM, 30, "hf_{l34}", "hf_hub_download_with_progress"),
    _row("groq-key", "Groq", "gsk_", _ALNUM, 40, "gsk_{52}"),
    _row("xai-key", "xAI", "xai-", _ALNUM, 60, "xai-{80}"),
    _row("perplexity-key", "Perplexity", "pplx-", _ALNUM, 32, "pplx-{48}", "pplx-embed-context-v1-4b"),
    _row("replicate-token", "Replicate", "r8_", _ALNUM, 30, "r8_{37}"),
    _row("nvidia-key", "NVIDIA", "nvapi-", _WORD, 40, "nvapi-{w64}"),
    _row("cerebras-key", "Cerebras", "csk-", _ALNUM, 32, "csk-{48}"),
    _row("together-key", "Together", "tgp_v1_", _WORD, 30, "tgp_v1_{w43}"),
    _row("langsmith-key", "LangSmith", "lsv2_pt_ lsv2_sk_", _ALNUM, 32, "lsv2_pt_{h32}_{h10}"),
    _row("pinecone-key", "Pinecone", "pcsk_", _ALNUM, 40, "pcsk_{6}_{63}"),
    _row("llamacloud-key", "LlamaCloud", "llx-", _ALNUM, 32, "llx-{48}"),
    _row("tavily-key", "Tavily", "tvly-", _WORD, 24, "tvly-dev-{32}"),
    _row("firecrawl-key", "Firecrawl", "fc-", _HEX, 32, "fc-{h32}"),
    _row("e2b-key", "E2B", "e2b_", _ALNUM, 32, "e2b_{h40}"),
    _row("elevenlabs-key", "ElevenLabs, and others that use the form", "sk_", _HEX, 32, "sk_{h48}"),
    _row("wandb-key", "Weights & Biases", "wandb_v1_", _ALNUM, 40, "wandb_v1_{40}"),
    _row("databricks-token", "Databricks", "dapi", _HEX, 32, "dapi{h32}"),
    # code, packages, builds
    _row("github-token", "GitHub: classic, OAuth, app, refresh", "ghp_ gho_ ghu_ ghs_ ghr_", _ALNUM, 30, "ghp_{36}"),
    _row("github-token", "GitHub: fine-grained", "github_pat_", _ALNUM, 36, "github_pat_{22}_{59}"),
    _row(
        "gitlab-token",
        "GitLab: personal, deploy, runner, job, trigger, feed, agent, OAuth",
        "glpat- gldt- glrt- glcbt- glptt- glft- glagent- glsoat- gloas- GR1348941",
        _DOTTED,
        16,
        "glpat-{w20}",
    ),
    _row("atlassian-token", "Atlassian, Bitbucket", "ATATT3 ATCTT3 ATBB", _BASE64, 24, "ATATT3{w180}"),
    _row("npm-token", "npm", "npm_", _ALNUM, 36, "npm_{36}", "npm_config_registry_and_cache_folder_path"),
    _row("pypi-token", "PyPI", "pypi-", _WORD, 50, "pypi-AgEIcHlw{w90}"),
    _row("rubygems-key", "RubyGems", "rubygems_", _HEX, 40, "rubygems_{h48}"),
    _row("docker-token", "Docker Hub", "dckr_pat_ dckr_oat_", _WORD, 20, "dckr_pat_{w27}"),
    _row("sourcegraph-token", "Sourcegraph", "sgp_", _ALNUM, 40, "sgp_{h16}_{h40}"),
    _row("postman-key", "Postman", "PMAK-", _WORD, 50, "PMAK-{h24}-{h34}"),
    _row("linear-key", "Linear", "lin_api_", _ALNUM, 32, "lin_api_{40}"),
    _row("notion-token", "Notion", "ntn_ secret_", _ALNUM, 40, "ntn_{d11}{35}"),
    _row("figma-token", "Figma", "figd_", _WORD, 36, "figd_{w43}"),
    _row("sentry-token", "Sentry", "sntrys_ sntryu_", _BASE64, 40, "sntryu_{h64}"),
    _row("grafana-token", "Grafana", "glsa_ glc_", _BASE64, 32, "glsa_{32}_{h8}"),
    # clouds, databases, secret stores
    _row("google-api-key", "Google", "AIza", _WORD, 30, "AIza{w35}"),
    _row("google-oauth", "Google: client secret, access, refresh", "GOCSPX- ya29. 1//0", _WORD, 20, "GOCSPX-{w28}"),
    _row("aws-bedrock-key", "Amazon Bedrock", "ABSK bedrock-api-key-", _BASE64, 60, "ABSK{b110}"),
    _row("digitalocean-token", "DigitalOcean", "dop_v1_ doo_v1_ dor_v1_", _HEX, 40, "dop_v1_{h64}"),
    _row("fly-token", "Fly.io", "fm2_ fo1_", _BASE64, 40, "fm2_{b120}"),
    _row("heroku-key", "Heroku", "HRKU-", _WORD, 32, "HRKU-AA{w58}"),
    _row("netlify-token", "Netlify", "nfp_", _ALNUM, 36, "nfp_{40}"),
    _row("supabase-key", "Supabase", "sbp_ sb_secret_", _ALNUM, 30, "sbp_{h40}"),
    _row("planetscale-token", "PlanetScale", "pscale_tkn_ pscale_pw_", _DOTTED, 32, "pscale_tkn_{w43}"),
    _row("pulumi-token", "Pulumi", "pul-", _HEX, 40, "pul-{h40}"),
    _row("vault-token", "HashiCorp Vault", "hvs. hvb.", _WORD, 24, "hvs.{w95}"),
    _row("doppler-token", "Doppler", "dp.pt. dp.st. dp.ct. dp.sa.", _DOTTED, 40, "dp.pt.{43}"),
    _row("1password-token", "1Password: service account", "ops_eyJ", _BASE64, 100, "ops_eyJ{b300}"),
    _row("age-key", "age: private key", "AGE-SECRET-KEY-1", _ALNUM, 50, "AGE-SECRET-KEY-1{A58}"),
    _row("tailscale-key", "Tailscale", "tskey-", _WORD, 24, "tskey-auth-{17}-{32}"),
    # money, mail, messages
    _row(
        "stripe-key",
        "Stripe: secret, restricted, webhook",
        "sk_live_ sk_test_ rk_live_ rk_test_ whsec_",
        _BASE64,
        16,
        "sk_live_{24}",
    ),
    _row("square-token", "Square", "sq0atp- sq0csp-", _WORD, 20, "sq0atp-{w22}"),
    _row("shopify-token", "Shopify", "shpat_ shpca_ shppa_ shpss_", _ALNUM, 32, "shpat_{h32}"),
    _row("brevo-key", "Brevo", "xkeysib-", _WORD, 64, "xkeysib-{h64}-{16}"),
    _row("slack-token", "Slack: workflow, app", "xwfp- xapp-", _WORD, 20, "xapp-1-A{A10}-{d13}-{h64}"),
)
