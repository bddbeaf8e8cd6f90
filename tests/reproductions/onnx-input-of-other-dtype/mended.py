"""The same array in the type that the network declares."""

import numpy
import onnxruntime
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node("Relu", ["image"], ["out"])],
    "network",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3])],
    [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 3])],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])

image = numpy.array([[0.1, -0.2, 0.3]], dtype=numpy.float32)
print(session.run(None, {"image": image}))
self, input_feed = session, {"image": image}  # so the library calls them, and the check with it
