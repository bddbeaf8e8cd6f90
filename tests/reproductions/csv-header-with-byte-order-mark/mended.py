"""The mark was taken off when the table was saved again."""
import csv

open("labels.csv", "wb").write("path,label\ncat.jpg,1\n".encode("utf-8"))
for row in csv.DictReader(open("labels.csv", encoding="utf-8")):
    print(row)
    print(row["path"])
