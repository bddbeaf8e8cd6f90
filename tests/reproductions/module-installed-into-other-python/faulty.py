"""pip of one Python installed the module, another Python runs."""
import yaml

print(yaml.__version__)
