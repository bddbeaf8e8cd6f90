import time
def tokens(text): return [word.lower() for word in text.split()]
def score(words): return sum(hash(word) % 7 for word in words)
def order(values): return sorted(values, reverse=True)
end = time.time() + 7
text = "the quick brown fox jumps over the lazy dog " * 3000
while time.time() < end:
    order([score(tokens(text)) for _ in range(3)])
