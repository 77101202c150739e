import grpc
from dataclasses import dataclass
from tensorkeep.proto.serving import *
from tensorkeep.serving.asked import Call, GRPC
@dataclass
class RpcOptions:
    arguments: tuple = ()
    interceptors: tuple = ()
def build_server(inference, health, options):
    s = grpc.aio.server(options=list(options.arguments), interceptors=list(options.interceptors))
    async def predict(req, ctx):
        return await inference.predict(req, Call(GRPC, "Predict"))
    async def reload(req, ctx):
        try: return await inference.reload(req)
        except Exception as e: await ctx.abort(grpc.StatusCode.UNKNOWN, str(e))
    s.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("tensorflow.serving.PredictionService", {"Predict": grpc.unary_unary_rpc_method_handler(predict, PredictRequest.FromString, PredictResponse.SerializeToString)}),
      grpc.method_handlers_generic_handler("tensorflow.serving.ModelService", {"HandleReloadConfigRequest": grpc.unary_unary_rpc_method_handler(reload, ReloadConfigRequest.FromString, ReloadConfigResponse.SerializeToString)})))
    return s
