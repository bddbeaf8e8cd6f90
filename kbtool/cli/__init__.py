"""The commands, one file each: arguments in, printed answer and exit status out.

Only here does kb print, prompt or exit; everything else returns values or raises `KbError`. May import every layer.
A command's module is imported when that command is called, and its body imports what it needs, so that `kb match` starts fast.
"""
