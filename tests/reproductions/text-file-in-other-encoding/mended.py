"""The table was converted to UTF-8 once."""
import csv

open("labels.csv", "wb").write("name,label\ncafé,1\n".encode("utf-8"))
for row in csv.DictReader(open("labels.csv", encoding="utf-8")):
    print(row)
