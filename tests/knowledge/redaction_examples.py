"""True and false positives of every redaction rule: what has to go, and what looks like it and has to stay.

Tokens are drawn here at every run from a fixed seed, so that no file of the project holds anything that looks like a live secret.
"""

from __future__ import annotations

import random
import string

BASE62 = string.ascii_letters + string.digits


def drawn(length: int, alphabet: str = BASE62, seed: int = 7) -> str:
    """`length` characters of `alphabet`, always the same for a seed, never without a digit and both cases where it has them."""
    source = random.Random(seed * 1000 + length)
    lead = "".join(kind for kind in ("a", "Z", "4") if kind in alphabet)
    return (lead + "".join(source.choice(alphabet) for _ in range(length)))[:length]


CONTEXTS = (
    "{}",
    "export TOKEN_OF_MINE='{}'",
    "  File \"train.py\", line 3, in login(\"{}\")",
    "curl -H 'x: {}' https://example.org/models",
    "RuntimeError: 401 for {}, see the documentation",
)
"""Where a token with a prefix of its own stands in real texts."""

PREFIXED: dict[str, tuple[str, tuple[str, ...]]] = {
    "huggingface-token": ("hf_" + drawn(34), ("hf_hub_download", "hf_model = AutoModel", "from_hf_checkpoint", "hf_transfer==0.1.8", "hf_" + drawn(12))),
    "huggingface-org-token": ("api_org_" + drawn(34), ("api_org_name", "api_org_id=12", "my_api_org_unit", "api_org_", "api_org_" + drawn(8))),
    "anthropic-key": ("sk-ant-api03-" + drawn(80), ("sk-ant-", "risk-ant-colony", "task-ant-hill-climb", "sk-ant-model", "disk-ant-" + drawn(30))),
    "openai-key": ("sk-proj-" + drawn(60), ("task-" + drawn(20), "sk-learn", "mask-based", "sk-proj-x", "disk-io-wait-for-the-next-batch-of-samples")),
    "github-token": ("ghp_" + drawn(36), ("ghp_", "ghs_size", "graph_ghp_node", "gho_output_layer", "ghp_" + drawn(20))),
    "github-fine-token": ("github_pat_" + drawn(82), ("github_pat_", "github_path", "github_patch_release", "my_github_pat_tern", "github_pat_" + drawn(20))),
    "gitlab-token": ("glpat-" + drawn(20), ("glpat-", "glpat-short", "gldt-x", "angular-glpat-tern", "glft-" + drawn(9))),
    "aws-key-id": ("AKIA" + drawn(16, string.ascii_uppercase + "234567"), ("AKIA", "ASIA region", "EURASIA2024MODELCARDX", "AKIAshortvalue", "asia-southeast1-docker")),
    "google-key": ("AIza" + drawn(35), ("AIza", "AIzawa", "XAIzaPattern", "AIza" + drawn(12), "AIza model zoo")),
    "google-oauth": ("ya29." + drawn(60), ("ya29.", "ya29.9", "maya29.4", "ya29", "ya29.short")),
    "google-client-secret": ("GOCSPX-" + drawn(28), ("GOCSPX-", "GOCSPX", "GOCSPX-short", "XGOCSPX-" + drawn(28), "GOCSPX_" + drawn(10))),
    "telegram-token": ("123456789:AA" + drawn(33), ("12345:AA", "12:30:45:AAB", "rank 3:AA", "123456789:AAshort", "1234567890:BB" + drawn(33))),
    "wandb-key": ("wandb_v1_" + drawn(60), ("wandb_v1_", "wandb_version", "wandb_v1_run", "my_wandb_v1_x", "wandb_v1.json")),
    "nvidia-key": ("nvapi-" + drawn(64), ("nvapi-", "nvapi-short", "nvapi.dll", "libnvapi-dev", "nvapi-" + drawn(20))),
    "npm-token": ("npm_" + drawn(36), ("npm_", "npm_config_cache", "npm_lifecycle_event", "npm_" + drawn(35) + "_x", "npm_" + drawn(12))),
    "pypi-token": ("pypi-AgEIcHlwaS5vcmc" + drawn(60), ("pypi-", "pypi-server", "pypi-publish-action", "pypi-mirror-of-the-team", "pypi-" + drawn(20))),
    "docker-token": ("dckr_pat_" + drawn(27), ("dckr_pat_", "dckr_pat", "dckr_image", "dckr_pat_short", "dckr_" + drawn(27))),
    "databricks-token": ("dapi" + drawn(32, "0123456789abcdef"), ("dapi", "dapivolume", "dapi0123", "dapi" + drawn(40, "0123456789abcdef"), "mydapi" + drawn(32, "0123456789abcdef"))),
    "replicate-token": ("r8_" + drawn(37), ("r8_", "r8_model", "yolor8_x", "r8_" + drawn(20), "r8_" + drawn(40))),
    "stripe-key": ("sk_live_" + drawn(24), ("sk_live_", "task_live_view", "risk_test_case", "sk_test_short", "mask_test_" + drawn(24))),
    "sendgrid-key": ("SG." + drawn(22) + "." + drawn(43), ("SG.", "SG.x.y", "msg.body.text", "SG." + drawn(22), "SGD.step.done")),
    "jwt": ("eyJ" + drawn(30) + ".eyJ" + drawn(40) + "." + drawn(43), ("eyJ", "eyJ.eyJ.x", "heyJude.mp3", "eyJ" + drawn(30), "eyJ" + drawn(30) + ".abc.def")),
}
"""Rule, a token of its kind, and what is none."""

HEX40 = drawn(40, "0123456789abcdef")
BASE64_KEY = drawn(86) + "=="

IN_CONTEXT: dict[str, tuple[tuple[tuple[str, str], ...], tuple[str, ...]]] = {
    "private-key": (
        tuple(
            (text, drawn(64))
            for text in (
                f"-----BEGIN PRIVATE KEY-----\n{drawn(64)}\n{drawn(40)}\n-----END PRIVATE KEY-----",
                f"-----BEGIN RSA PRIVATE KEY-----\n{drawn(64)}\n-----END RSA PRIVATE KEY-----\nrest",
                f"-----BEGIN OPENSSH PRIVATE KEY-----\n{drawn(64)}",
                f"before\n-----BEGIN PGP PRIVATE KEY BLOCK-----\n{drawn(64)}\n-----END PGP PRIVATE KEY BLOCK-----",
                f'"private_key": "-----BEGIN EC PRIVATE KEY-----\\n{drawn(64)}\\n-----END EC PRIVATE KEY-----"',
            )
        ),
        ("no private key found", "-----BEGIN CERTIFICATE-----", "-----BEGIN PUBLIC KEY-----", "could not load private key file", "--- private key ---"),
    ),
    "azure-account-key": (
        tuple((text.format(BASE64_KEY), BASE64_KEY) for text in ("AccountKey={}", "a;AccountKey={};b", "x='AccountKey={}'", "SharedAccessKey={}", "Endpoint=sb://x/;SharedAccessKey={}")),
        ("AccountKey=", "AccountKey=short", "SharedAccessKeyName=Root", "accountkey=None", "AccountKey missing"),
    ),
    "azure-signature": (
        tuple((text.format(drawn(43)), drawn(43)) for text in ("https://x.y/z?sv=1&sig={}%3D", "?sig={}", "&sig={}", "https://x/y?se=1&sp=r&sig={}&sv=2", "GET /a?sig={} 403")),
        ("?sig=1", "&sig=abc", "sig=SIGTERM", "design=flat", "?sig="),
    ),
    "slack-token": (
        tuple((text, "xoxb-12345-" + drawn(24)) for text in (f"xoxb-12345-{drawn(24)}", f"token xoxb-12345-{drawn(24)}", f"'xoxb-12345-{drawn(24)}'", f"a=xoxb-12345-{drawn(24)}", f"(xoxb-12345-{drawn(24)})")),
        ("xox", "xoxo-hugs", "foxoxb-", "xoxb-1", "xoxb_token"),
    ),
    "slack-webhook": (
        tuple((f"{before}https://hooks.slack.com/{kind}/T0/B0/{drawn(24)}", drawn(24)) for before, kind in (("", "services"), ("url=", "services"), ("POST ", "workflows"), ("'", "triggers"), ("curl ", "services"))),
        ("hooks.slack.com", "https://hooks.slack.com/services/", "hooks.slack.com/docs", "https://slack.com/services/x", "hooks.slack.com/services/short"),
    ),
    "discord-webhook": (
        tuple((f"{before}/api/webhooks/123456789012345678/{drawn(68)}", drawn(68)) for before in ("https://discord.com", "POST https://discordapp.com", "url=https://discord.com", "'https://ptb.discord.com", "curl https://discord.com")),
        ("/api/webhooks/", "/api/webhooks/12/x", "/api/webhooks/list", "/api/webhooks/123456789012345678/short", "/api/v1/webhooks"),
    ),
    "wandb-login": (
        tuple((text.format(HEX40), HEX40) for text in ("wandb login {}", "$ wandb login {}", "wandb login --relogin {}", "RUN wandb login {}", "!wandb login {} && python train.py")),
        ("wandb login", "run `wandb login` first", "wandb login --relogin", "wandb login failed", "wandb login short"),
    ),
    "credentials": (
        (
            ("https://bob:hunter2@git.example.org/x", "hunter2"),
            ("postgresql://app:s3cr3tpw@db:5432/mlflow", "s3cr3tpw"),
            ("pip install --index-url http://u:pw%21x@pypi.example.org/simple", "pw%21x"),
            ("redis://:passw0rd@cache:6379/0", "passw0rd"),
            (f"https://{drawn(40)}@github.com/org/repo", drawn(40)),
        ),
        ("https://example.org:8080/x", "tcp://node:29500", "git+https://github.com/a/b@v1.2", "s3://bucket/a:b", "https://example.org/@user/post"),
    ),
    "authorization": (
        tuple(
            (text, drawn(24))
            for text in (
                f"Authorization: Bearer {drawn(24)}",
                f"authorization: Basic {drawn(24)}",
                f"-H 'Authorization: token {drawn(24)}'",
                f"{{'Authorization': 'Bearer {drawn(24)}'}}",
                f"x-api-key: {drawn(24)}",
            )
        ),
        ("Authorization: None", "authorization required", "Authorization header missing", "authorization: ", "Authorization failed (401)"),
    ),
    "bearer-token": (
        tuple((text.format(drawn(30)), drawn(30)) for text in ("bearer {}", "Bearer {}", "auth Bearer {}", "'Bearer {}'", "sent BEARER {} to the server")),
        ("bearer token", "the bearer of news", "Bearer authentication", "forbearer abc123", "Bearer abc1"),
    ),
    "password": (
        (
            ("password=hunter2", "hunter2"),
            ("PASSWORD: correct-horse", "correct-horse"),
            ("--password s3same", "s3same"),
            ('"db_password": "letmein99"', "letmein99"),
            ("MYSQL_PASSWD='topsy.turvy'", "topsy.turvy"),
        ),
        ("password=None", "Enter password: ", "password=getpass.getpass()", "password=${PASS}", "password: required", "no password given"),
    ),
    "secret": (
        (
            ("AWS_SECRET_ACCESS_KEY=" + drawn(40), drawn(40)),
            ("api_key='" + drawn(32) + "'", drawn(32)),
            ("WANDB_API_KEY=" + HEX40, HEX40),
            ('"client_secret": "' + drawn(20) + '"', drawn(20)),
            ("openai.api_key = " + drawn(24), drawn(24)),
        ),
        ("api_key=None", "secret = load_secret()", "api_key is missing", "secret_key: required", "secrets.token_hex(16)", "KeyError: 'api_key'"),
    ),
    "token": (
        (
            ("token=" + drawn(20), drawn(20)),
            ("HF_TOKEN=" + drawn(24), drawn(24)),
            ('access_token: "' + drawn(30) + '"', drawn(30)),
            ("--token " + drawn(20), drawn(20)),
            ("auth_token = '" + drawn(16) + "'", drawn(16)),
        ),
        (
            "pad_token=0",
            "eos_token: '<|endoftext|>'",
            "max_tokens=512 tokens: 4096",
            "pad_token_id=128009",
            "token=tokenizer.eos_token_id1",
            "token = hidden_states[0]",
            "bos_token=extra_id_0000000",
            "num_tokens: 1234567890123456",
        ),
    ),
    "home": (
        (
            ('File "/home/alice/run/train.py", line 3', "alice"),
            ("/Users/bob.k/models", "bob.k"),
            ("C:\\Users\\Carol\\data", "Carol"),
            ("C:\\\\Users\\\\dave\\\\x", "dave"),
            ("cd /home/eve_2", "eve_2"),
        ),
        ("/home/", "/var/home/x", "/home/user/x", "C:\\Users\\Public\\x", "/data/users.csv", "~/project"),
    ),
    "bucket": (
        (
            ("s3://acme-checkpoints/run1/x.pt", "acme-checkpoints"),
            ("gs://acme_data/train", "acme_data"),
            ("https://acme-x.s3.eu-west-1.amazonaws.com/a", "acme-x"),
            ("https://storage.googleapis.com/acme-weights/a.bin", "acme-weights"),
            ("oss://acme-cn/a", "acme-cn"),
            ("abfss://data@acmestore.dfs.core.windows.net/x", "acmestore"),
        ),
        ("s3://", "s3fs://", "hf://datasets/x", "https://s3.amazonaws.com/", "file:///a/b", "the s3 bucket is missing"),
    ),
    "email": (
        (
            ("mail alice@example.com", "alice@example.com"),
            ("<bob.smith+x@uni-town.edu>", "bob.smith+x@uni-town.edu"),
            ("Author: C <carol@corp.co.uk>", "carol@corp.co.uk"),
            ("--mail-user=dave@hpc.ethz.ch", "dave@hpc.ethz.ch"),
            ("contact: eve_1@sub.domain.ai,", "eve_1@sub.domain.ai"),
        ),
        ("x@self.weight", "out = a@b.T", "@torch.no_grad()", "git@github.com:a/b", "q@k.to(device)", "numpy@1.26.4", "noreply@github.com"),
    ),
    "login": (
        (
            ("alice@gpu-node3:~/work$ python train.py", "alice@gpu-node3"),
            ("scp bob@login1:/data/x .", "bob@login1"),
            ("root@3f2a9c1b77de:/app# ls", "root@3f2a9c1b77de"),
            ("rsync -a carol@hpc.site:~/x .", "carol@hpc.site"),
            ("dave@10-0-0-3's password: ", "dave@10-0-0-3"),
        ),
        ("git@github.com:/a/b", "a@b", "x @ y: z", "matmul(a@b): shape", "decorator @cache: on"),
    ),
    "host": (
        (
            ("ip-10-0-0-12.ec2.internal", "ip-10-0-0-12"),
            ("gpu01.cluster: up", "gpu01"),
            ("dgx-07:4242:4301 [0] NCCL INFO Bootstrap", "dgx-07"),
            ("MASTER_ADDR=node042", "node042"),
            ("srun: error: node17: task 3: Exited", "node17"),
            ("hostname: trainer-5", "trainer-5"),
            ("build.box.corp", "build.box"),
        ),
        ("threading.local()", "MASTER_ADDR=localhost", "host=None", "torch.distributed.internal", "hostname: localhost", "host: str", "import foo.local", "host=args.host"),
    ),
    "ip": (
        (
            ("connect to 10.1.2.3:29500", "10.1.2.3"),
            ("MASTER_ADDR=192.168.4.11", "192.168.4.11"),
            ("[c10d] (52.31.7.9, 400)", "52.31.7.9"),
            ("peer fe80::a00:27ff:fe4e:66a1 gone", "fe80::a00:27ff:fe4e:66a1"),
            ("[2001:db8:0:1:2:3:4:5]:80", "2001:db8:0:1:2:3:4:5"),
            ("http://172.17.0.2/x", "172.17.0.2"),
        ),
        (
            "cuDNN 8.9.2.26",
            "nvidia-curand-cu12==10.3.2.106",
            "libcudnn.so.8.9.2.26",
            "127.0.0.1:8000 0.0.0.0 255.255.255.0",
            "version 1.2.3.4",
            "12:30:45 2026-11-30 12:30:45",
            "c10::Error at::native::add ::1 [::]:80",
            "0000:3b:00.0 aa:bb:cc:dd:ee:ff",
            "535.104.05.01",
        ),
    ),
    "random-string": (
        tuple((text.format(drawn(40)), drawn(40)) for text in ("{}", "id {}", "cookie: session={};", "https://x.example/?k={}", "'{}'")),
        (
            HEX40,
            "sha256:" + drawn(64, "0123456789abcdef"),
            "123e4567-e89b-12d3-a456-426614174000",
            "_ZN2at6native12_GLOBAL__N_110gpu_kernelIZZZNS0_15copy_kernelERNS_14TensorIteratorE",
            "DistributedDataParallelCommHookStateBuilder2",
            "ampere_fp16_s16816gemm_fp16_128x128_ldg8_f2f_stages_32x5_nn",
            "aaaaaaaaAAAAAAAA11111111aaaaaaaaAAAAAAAA",
            "transformer-encoder-layer-12-attention-output-dense",
        ),
    ),
}
"""Rule, pairs of text and the secret in it, and texts it has to leave alone."""
