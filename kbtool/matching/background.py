"""How common words are in descriptions of failures: what a base too small to count by itself falls back on."""

from __future__ import annotations

_PERCENT: dict[int, str] = {
    85: (
        "error"
    ),
    40: (
        "model one"
    ),
    35: (
        "torch"
    ),
    30: (
        "only runtime use value"
    ),
    25: (
        "before file gpu py runtimeerror tensor"
    ),
    20: (
        "batch cannot cuda data device each first load out process run set than valueerror"
    ),
    15: (
        "another because build call cpu give hold install make memory other rank s size start train training type version without"
    ),
    10: (
        "after all built check checkpoint config copy dataset default different distributed equal every fail failed find found"
        " got gp gpus gradient host image inside installed instead keep kernel last later left library line list loaded loader"
        " local lower max module more name need node number object old older open package pass per processe python raise runs same"
        " state step system t take through time token transformer true us weight wheel x"
    ),
    5: (
        "activation again already api argument assertion attention available b backend backward below block cache card class code"
        " come compile compiled compute container context convert core create cu dataloader dev download driver drop dtype e end"
        " environment expected false fewer folder forward free full get gets group half hand head id import index input job json"
        " key keys launch layer len length limit lo loading lora loss main map missing mode multiprocessing must nccl never newer"
        " nothing num numpy nvidia off optimizer os output own pad parallel parameter passe path pip plain please program put"
        " pytorch ra ram refuse refused release remove return running sample saved script second server several should single"
        " small smaller some space split stay still such support tokenizer trainer try turn two under up upgrade used util wait"
        " whole window work worker write zero"
    ),
}
"""Percent of entries → the words that stand in about so many; counted over about a hundred entries of all domains."""

SHARE: dict[str, float] = {word: percent / 100 for percent, words in _PERCENT.items() for word in words.split(" ")}

SETTLED = 96
"""Entries from which on a base's own counts are enough."""
