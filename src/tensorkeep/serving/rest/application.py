from dataclasses import dataclass
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
@dataclass
class RestOptions: pass
def rest_application(inference, models, options):
    async def status(request):
        return JSONResponse({m.name: [s.state.name for s in m.versions] for m in models.overview()})
    return Starlette(routes=[Route("/status", status)])
