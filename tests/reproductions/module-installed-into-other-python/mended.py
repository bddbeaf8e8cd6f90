"""The Python runs into which pip installs."""
import yaml

print(yaml.__version__)
