"""The table of redaction: what counts as a secret or a private place, and what stands in its stead.

A rule is tried only on lines that hold one of its `keywords` (lower case), so its pattern can afford to be exact. Patterns are linear:
bounded or flat repetition, no repeated group that holds a repetition. A pattern that knows more than its prefix leaves the last word
to `accept`. Shapes of tokens are those that the services document or that gitleaks' published rules describe.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from kbtool.knowledge import redaction_filters as filters


@cache
def _compiled(pattern: str, ignore_case: bool) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE if ignore_case else 0)


class Rule(NamedTuple):
    """One kind of secret: a match gives way to `replacement`, or where that is empty its group `secret` (or all of it) to a placeholder."""

    name: str
    keywords: tuple[str, ...]
    """One of them has to stand in the text, compared in lower case; none: the pattern is tried on every line."""
    pattern: str
    replacement: str = ""
    accept: Callable[[re.Match[str]], bool] | None = None
    ignore_case: bool = False
    spans_lines: bool = False

    @property
    def regex(self) -> re.Pattern[str]:
        """The pattern, compiled when it is first needed."""
        return _compiled(self.pattern, self.ignore_case)


def _token(name: str, prefix: str, rest: str, *keywords: str) -> Rule:
    """A token that starts with a telling prefix and is a word of its own."""
    return Rule(name, keywords or (prefix.lower(),), rf"(?<![A-Za-z0-9]){prefix}{rest}(?![A-Za-z0-9])")


BLOCKS = (
    Rule(
        "private-key",
        ("private key",),
        r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]{0,20000}(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?",
        spans_lines=True,
    ),
)
"""Secrets that run over several lines."""

SERVICE_TOKENS = (
    _token("huggingface-token", "hf_", "[A-Za-z0-9]{30,}"),
    _token("huggingface-org-token", "api_org_", "[A-Za-z0-9]{30,}"),
    _token("anthropic-key", "sk-ant-", "[A-Za-z0-9_-]{20,}"),
    _token("openai-key", "sk-", "(?:proj-|svcacct-|admin-|None-|or-v1-)?(?!ant-)[A-Za-z0-9_-]{32,}"),
    _token("github-token", "gh[pousr]_", "[A-Za-z0-9]{36,}", "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _token("github-fine-token", "github_pat_", "[A-Za-z0-9_]{50,}"),
    _token("gitlab-token", "gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat)-", "[A-Za-z0-9_-]{20,}", "glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-"),
    _token("aws-key-id", "(?:AKIA|ASIA|ABIA|ACCA)", "[A-Z2-7]{16}", "akia", "asia", "abia", "acca"),
    _token("google-key", "AIza", "[A-Za-z0-9_-]{35}"),
    _token("google-oauth", r"ya29\.", "[A-Za-z0-9_.-]{20,}", "ya29."),
    _token("google-client-secret", "GOCSPX-", "[A-Za-z0-9_-]{28}"),
    Rule("azure-account-key", ("accountkey=", "sharedaccesskey="), r"(?:AccountKey|SharedAccessKey)=(?P<secret>[A-Za-z0-9+/]{40,}={0,2})"),
    Rule("azure-signature", ("sig=",), r"[?&]sig=(?P<secret>[A-Za-z0-9%+/_-]{30,}={0,2})"),
    Rule("slack-token", ("xox",), r"(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    Rule("slack-webhook", ("hooks.slack.com",), r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,})"),
    Rule("discord-webhook", ("/api/webhooks/",), r"/api/webhooks/(?P<secret>\d{15,22}/[A-Za-z0-9_-]{40,})"),
    _token("telegram-token", r"\d{8,10}:AA", "[A-Za-z0-9_-]{32,34}", ":aa"),
    _token("wandb-key", "wandb_v1_", "[A-Za-z0-9_]{30,}"),
    Rule("wandb-login", ("wandb login",), r"wandb login (?:--relogin )?(?P<secret>[A-Za-z0-9_]{40,})"),
    _token("nvidia-key", "nvapi-", "[A-Za-z0-9_-]{40,}"),
    _token("npm-token", "npm_", "[A-Za-z0-9]{36}"),
    _token("pypi-token", "pypi-", "[A-Za-z0-9_-]{50,}"),
    _token("docker-token", "dckr_[po]at_", "[A-Za-z0-9_-]{24,}", "dckr_"),
    _token("databricks-token", "dapi", "[0-9a-f]{32}(?:-[0-9])?"),
    _token("replicate-token", "r8_", "[A-Za-z0-9]{37}"),
    _token("stripe-key", "(?:sk|rk)_(?:live|test)_", "[A-Za-z0-9]{20,}", "_live_", "_test_"),
    _token("sendgrid-key", r"SG\.", r"[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,45}", "sg."),
    _token("jwt", "eyJ", r"[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"),
)
"""Tokens that their service marks with a prefix."""

CREDENTIALS = (
    Rule("credentials", ("://",), r"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?P<secret>[^\s/@:\"'<>\[\]]{0,100}:[^\s/@\"'<>]{1,200})@"),
    Rule("credentials", ("://",), r"https?://(?P<secret>[A-Za-z0-9_-]{20,200})@"),
    Rule(
        "authorization",
        ("authorization", "x-api-key", "api-key:"),
        r"(?:authorization|x-api-key|(?<![\w-])api-key)[\"']{0,2}\s{0,3}[:=]\s{0,3}[\"']{0,2}(?:(?:bearer|basic|token|digest|apikey)\s{1,3})?(?!(?:bearer|basic|token|digest|apikey)\b)(?P<secret>[A-Za-z0-9+/_.~-]{6,}={0,2})",
        accept=filters.is_value,
        ignore_case=True,
    ),
    Rule("bearer-token", ("bearer ",), r"(?<![A-Za-z])bearer (?P<secret>[A-Za-z0-9+/_.~-]{16,}={0,2})", accept=filters.has_letter_and_digit, ignore_case=True),
    Rule(
        "password",
        ("password", "passwd", "passphrase"),
        r"(?:password|passwd|passphrase)[\"']?(?:\s{0,3}[=:]\s{0,3}|\s(?<=--password\s)|\s(?<=--passphrase\s))[\"']?(?P<secret>[^\s\"'<>(){}\[\]$*,;&|]{4,200})",
        accept=filters.is_value,
        ignore_case=True,
    ),
    Rule(
        "secret",
        ("secret", "api_key", "apikey", "api-key", "access_key", "access-key", "account_key", "private_key"),
        r"(?:secret|api_key|apikey|api-key|access_key|access-key|account_key|private_key|secret_key)[\"']?(?:\s{0,3}[=:]\s{0,3}|\s(?<=--api-key\s))[\"']?"
        r"(?P<secret>[A-Za-z0-9+/_.~-]{8,200}={0,2})",
        accept=filters.has_letter_and_digit,
        ignore_case=True,
    ),
    Rule("secret", ("_key=",), r"(?<=[A-Z])_KEY=[\"']?(?P<secret>[A-Za-z0-9+/_.~-]{8,200}={0,2})", accept=filters.has_letter_and_digit),
    Rule(
        "token",
        ("token",),
        r"(?<!pad_)(?<!eos_)(?<!bos_)(?<!unk_)(?<!cls_)(?<!sep_)(?<!mask_)token[\"']?(?:\s{0,3}[=:]\s{0,3}|\s(?<=--token\s))[\"']?(?P<secret>[A-Za-z0-9+/_.~-]{12,200}={0,2})(?![\w(\[])",
        accept=filters.has_letter_and_digit,
        ignore_case=True,
    ),
)
"""Secrets known by what stands before them."""

PLACES = (
    Rule("home", ("/home/", "/users/"), r"(?<![\w.~-])(?:/home/|/Users/)(?P<secret>[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63})", "~", accept=filters.is_person),
    Rule("home", ("\\users\\",), r"(?<![\w])[A-Za-z]:(?:\\\\?)Users(?:\\\\?)(?P<secret>[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}(?: [A-Z][A-Za-z0-9_.+-]{0,30}(?=\\))?)", "~", accept=filters.is_person, ignore_case=True),
    Rule("bucket", ("s3://", "s3a://", "gs://", "gcs://", "oss://", "cos://", "obs://", "r2://", "b2://"), r"(?<![A-Za-z0-9])(?:s3a?|gs|gcs|oss|cos|obs|r2|b2)://(?P<secret>[A-Za-z0-9][A-Za-z0-9._-]{1,221}[A-Za-z0-9])"),
    Rule("bucket", (".s3.", ".s3-", "storage.googleapis.com/", ".core.windows.net", ".aliyuncs.com"), r"://(?P<secret>[a-z0-9][a-z0-9._@-]{1,120})(?=\.s3[.-][a-z0-9.-]{0,60}amazonaws\.com|\.(?:blob|dfs|file)\.core\.windows\.net|\.oss-[a-z0-9-]{1,40}\.aliyuncs\.com)"),
    Rule("bucket", ("storage.googleapis.com/",), r"storage\.googleapis\.com/(?!download/|upload/|storage/)(?P<secret>[a-z0-9][a-z0-9._-]{1,62})"),
    Rule("email", ("@",), r"(?<![\w.+@/-])(?P<secret>[A-Za-z0-9_][A-Za-z0-9_.+-]{0,63}@[A-Za-z0-9][A-Za-z0-9.-]{0,100}\.[A-Za-z]{2,24})(?![\w(@-])", accept=filters.is_email),
    Rule("login", ("@",), r"(?<![\w.+@/-])(?P<secret>[a-z_][a-z0-9_.-]{0,31}@[A-Za-z0-9][A-Za-z0-9.-]{0,100})(?=:[~/]|:\[hidden|'s password)", accept=filters.is_login),
    Rule(
        "host",
        (".internal", ".local", ".lan", ".corp", ".intranet", ".cluster", ".amazonaws.com", ".cloudapp.azure.com"),
        r"(?<![\w.-])(?P<secret>[A-Za-z0-9][A-Za-z0-9.-]{0,200}\.(?:internal|local|localdomain|lan|corp|intranet|cluster|compute(?:-1)?\.amazonaws\.com|cloudapp\.azure\.com))(?![\w(-]|\.\w)",
        accept=filters.is_host,
    ),
    Rule(
        "host",
        ("nccl", "ucx", "gloo"),
        r"(?<![^\s\]>])(?P<secret>[A-Za-z][A-Za-z0-9.-]{1,100}):\d{1,7}:\d{1,7} (?=\[\d{1,4}\] (?:NCCL|UCX|GLOO))",
        accept=filters.is_nccl_host,
    ),
    Rule(
        "host",
        ("host", "master_addr", "nodename", "nodelist", "node_name"),
        r"(?:hostname|host_name|node_?name|nodelist|master_addr|(?<![a-z_])host)[\"']?\s{0,2}[=:]\s{0,2}[\"']?(?P<secret>[A-Za-z][A-Za-z0-9.-]{1,100}(?:\[[0-9,-]{1,60}\])?)(?![\w(.])",
        accept=filters.is_host,
        ignore_case=True,
    ),
    Rule("host", ("srun: ", "slurmstepd: ", "slurmd["), r"(?:srun: error: |slurmstepd: error: \*\*\* (?:STEP|JOB) [0-9.]{1,20} ON |slurmd\[)(?P<secret>[A-Za-z][A-Za-z0-9.-]{1,60})(?=:|\s|\])", accept=filters.is_host),
    Rule("ip", (".",), r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}", accept=filters.is_ipv4),
    Rule("ip", (":",), r"(?<![\w:.])[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:]{2,36}(?![\w:])", accept=filters.is_ipv6),
)
"""People, machines and storage: private, if not secret."""

RANDOM = Rule("random-string", (), r"[A-Za-z0-9+_-]{32,512}={0,2}", accept=filters.is_random)
"""The last net: long strings that look drawn at random and are no hash, id or symbol."""

RULES: tuple[Rule, ...] = (*BLOCKS, *SERVICE_TOKENS, *CREDENTIALS, *PLACES, RANDOM)
"""Every rule, in the order they are tried."""
