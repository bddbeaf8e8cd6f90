"""A sign outside of ASCII is printed."""
print("accuracy 91 % → 93 %")
