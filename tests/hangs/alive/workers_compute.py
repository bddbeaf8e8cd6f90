import multiprocessing, time

def tokenize(seconds):
    end, words = time.time() + seconds, 0
    while time.time() < end:
        words += len(parts("a b c " * 2000))
    return words

def parts(text):
    return text.split()

if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        pool.map(tokenize, [7, 6])
