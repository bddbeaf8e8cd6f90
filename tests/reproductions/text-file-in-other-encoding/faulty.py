"""A table exported by a spreadsheet in a Windows code page is read as UTF-8."""
import csv

open("labels.csv", "wb").write("name,label\ncafé,1\n".encode("cp1252"))
for row in csv.DictReader(open("labels.csv", encoding="utf-8")):
    print(row)
