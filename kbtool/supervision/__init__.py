"""Running and looking at other programs: `kb run` and `kb probe`.

The child and its streams, the watch over its process tree, the verdict that it stalls, its stacks, and the startup record that is
injected into every Python process of the job (standard library only). May import review and everything below.
"""
