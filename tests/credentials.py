"""Made-up credentials, and texts that look like credentials and are none.

Credentials are made at run time, from the gaps in the examples of the rules: none stands in any file of this project.
"""

from __future__ import annotations

import base64
import random
import re
import string

ALPHABETS = {
    "": string.ascii_letters + string.digits,
    "h": "0123456789abcdef",
    "l": string.ascii_letters,
    "A": string.ascii_uppercase + "234567",
    "w": string.ascii_letters + string.digits + "-_",
    "b": string.ascii_letters + string.digits + "+/",
    "d": string.digits,
}
GAP = re.compile(r"\{([hlAwbdp]?)([0-9]+)\}|\{\}")
TELLING = 6
"""A gap of so many characters is a credential, or a part of one."""


def fill(template: str, seed: int = 0) -> tuple[str, list[str]]:
    """An example with its gaps filled, and what is in the gaps."""
    chance = random.Random(f"{seed}{template}")
    parts = []

    def part(match: re.Match[str]) -> str:
        if match[0] == "{}":
            return ""
        kind, length = match[1], int(match[2])
        characters = ALPHABETS["" if kind == "p" else kind]
        made = "".join(chance.choices(characters, k=length))
        if kind == "w":  # such keys do not end in a separator
            made = "x" + made[1:-1] + "x" if length > 1 else made
        if kind == "p":
            made = base64.b64encode(f"ann:{made}".encode()).decode()
        parts.append(made)
        return made

    return GAP.sub(part, template), [each for each in parts if len(each) >= TELLING]


def key_lines(kind: str = "RSA ", lines: int = 5, seed: int = 0) -> list[str]:
    body = [fill("{b64}", seed * 100 + number)[0] for number in range(lines)]
    dashes = "-" * 5
    return [
        f"{dashes}BEGIN {kind}PRIVATE KEY{dashes}",
        *body,
        fill("{b21}", seed)[0] + "==",
        f"{dashes}END {kind}PRIVATE KEY{dashes}",
    ]


BENIGN = {
    "git": "commit 3f786850e387550fdab836ed7e6dc881de23001b (HEAD -> main)\nindex e69de29..4b825dc 100644",
    "uuids": '{"uuid": "550e8400-e29b-41d4-a716-446655440000", "sessionId": "0e7f3b6a-5d2c-4f1e-9a8b-7c6d5e4f3a2b"}',
    "ulids": '{"event_id": "01JNQ3Z8Y5V7W9X1A2B3C4D5E6", "parent_event_id": "01JNQ3Z8Y5V7W9X1A2B3C4D5E7"}',
    "ids of models": '{"id": "msg_01AbCdEfGhIjKlMnOpQrStUv", "requestId": "req_011CSHoEeqs5C35K2UUqR7Fy"}',
    "ids of calls": '["toolu_01EdGUAacXqpwdu5tExNpwdGGQ","toolu_01LW6KGtTSmAJFd8Eq5ZrQpH","call_9f8e7d6c5b4a3f2e1d"]',
    "hashes": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 d41d8cd98f00b204e9800998",
    "a lock file": f'"integrity": "sha512-{base64.b64encode(bytes(range(64))).decode()}", "resolved": "https://r.example/a"',
    "usage": '{"input_tokens": 12345, "output_tokens":678,"cache_creation_input_tokens":90123, "max_tokens": 200000}',
    "words": "task-list risk-averse-portfolio-2026 desk-ab12cd34ef56ab12cd34 flask-login disk-0123456789 mask-rcnn",
    "python": "def login(user: str, password: str, token: str | None = None) -> T:\n    token = tokenizer(password)\n",
    "script": "const { apiKey, secretKey } = config;\nif (password !== confirmPassword2) throw Error('they differ');",
    "go": 'token := parser.Next()\nsecret := os.Getenv("API_SECRET2")\ntotalTokens := u.InputTokens1 + 5',
    "rust": "let token = tokens[index1];\nlet password: &str = args.password;\npub struct Key<T1> { key: T1 }",
    "shell": 'export TOKEN="$GH_TOKEN"\nPASSWORD=${PASSWORD:?missing}\ncurl -H "Authorization: Bearer $TOKEN" https://a.b',
    "YAML": "password: ${{ secrets.DB_PASSWORD1 }}\ntoken: '{{ vault_token_v2 }}'\nsecretName: app-secret\nkey: mise",
    "placeholders": "API_KEY=your-api-key-here SECRET=<your-secret-1> TOKEN=xxxxxxxxxx1 PASSWORD=******** KEY=${KEY1}",
    "prefixes": "keys begin with sk-, ghp_, AKIA, xoxb-, AIza, glpat-, hf_ or npm_; see sk-... and ghp_xxxxxxxxxxxxxxx",
    "AWS documentation": "AKIAIOSFODNN7EXAMPLE / wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    "addresses": "https://user@example.com/a:b@c http://localhost:8080/x?y=1@2 git@github.com:o/repo.git a@example.com",
    "image": "registry.example:5000/team/app@sha256:" + "9f86d081884c7d65" * 4,
    "versions": "python 3.11.9, numpy==2.1.0rc1, v1.22.3-alpha.1+build.20260301, claude-sonnet-4-5-20250929",
    "prose": "The token is checked, the password stays secret, and so does the key: authorization: basic or bearer.",
    "a table": "| key | secret | token |\n| --- | ------ | ----- |\n| a1  | none   | 1234  |",
    "sizes": "3 keys, 12 tokens: 4096 each; password length: 16; token limit = 200000; pwd\n/srv/work/demo",
    "file names": "plots/sk_chart_of_totals_final.png src/token_utils_v2.py tests/test_password_reset_2.py ~/.ssh/id",
    "public key": "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI" + "B7Zk3m" * 5 + "x ann@host",
    "jwt-like": "eyJavascript.engine.value and eyJhbGciOiJIUzI1NiJ9 alone",
    "places": "main.go:5432:open:error:unexpected-newline in store.go:12:5:info:ok",
    "redacted": "password: [REDACTED:password] postgres://app:[REDACTED:url-password]@db/x token=REDACTED ghp_REDACTED",
    "minified": "!function(e,t){var n=e.key||t.token,r=n?n.a1:t.b2;return r.password=t.c3,e}(window,{key:1,token:2});",
}
