"""A table saved as "CSV UTF-8" begins with a byte-order mark, which becomes part of the first column's name."""
import csv

open("labels.csv", "wb").write("path,label\ncat.jpg,1\n".encode("utf-8-sig"))
for row in csv.DictReader(open("labels.csv", encoding="utf-8")):
    print(row)
    print(row["path"])
