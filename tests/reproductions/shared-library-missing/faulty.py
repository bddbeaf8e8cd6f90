"""A package's compiled module cannot find the system library that it was linked with."""
import fastops

print(fastops)
