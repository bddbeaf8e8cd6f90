"""A float64 array is fed to a network that was exported with float32 inputs."""

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

image = numpy.array([[0.1, -0.2, 0.3]])
print(session.run(None, {"image": image}))
