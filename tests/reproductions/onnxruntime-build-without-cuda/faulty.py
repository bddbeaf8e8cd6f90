"""A session asks for CUDA alone; the installed build of ONNX Runtime has no such provider."""

import onnxruntime
from onnx import TensorProto, helper

graph = helper.make_graph(
    [helper.make_node("Relu", ["image"], ["out"])],
    "network",
    [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3])],
    [helper.make_tensor_value_info("out", TensorProto.FLOAT, [1, 3])],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CUDAExecutionProvider"])
if session.get_providers()[0] != "CUDAExecutionProvider":
    raise SystemExit("inference runs on the CPU")
