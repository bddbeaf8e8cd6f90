"""The same where output is UTF-8."""
print("accuracy 91 % → 93 %")
