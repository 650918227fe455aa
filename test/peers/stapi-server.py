"""The standard's own server, stapi-fastapi, with orders in memory. Each reading of an order takes it one state further, until its
image is linked as a STAC item. The first order that is placed with `lose` is answered with 502. Prints its port, then one line of JSON
for each request."""

import json
import socket
import sys
from datetime import UTC, datetime
from uuid import uuid4

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import FileResponse, JSONResponse
from returns.maybe import Nothing, Some
from returns.result import Failure, Success
from stapi_fastapi.errors import QueryablesError
from stapi_fastapi.models.product import Product
from stapi_fastapi.routers.root_router import RootRouter
from stapi_pydantic import (
    Link,
    Opportunity,
    OpportunityProperties,
    Order,
    OrderParameters,
    OrderProperties,
    OrderSearchParameters,
    OrderStatus,
    OrderStatusCode,
    Queryables,
)

given = json.loads(sys.argv[1])
CODES = [OrderStatusCode(code) for code in ["received", "accepted", "tasked", "completed"]]
orders: dict[str, Order] = {}
history: dict[str, list[OrderStatus]] = {}
lost = [bool(given["lose"])]
base: list[str] = []


class Limits(Queryables):
    pass


class Parameters(OrderParameters):
    priority: str = "standard"


def status_of(order_id, code):
    item = Link(href=f"{base[0]}/items/{order_id}", rel="item", type="application/geo+json")
    return OrderStatus(timestamp=datetime.now(UTC), status_code=code, links=[item] if code == "completed" else [])


def advance(order_id):
    order = orders[order_id]
    step = min(len(CODES) - 1, CODES.index(order.properties.status.status_code) + 1)
    if CODES[step] != order.properties.status.status_code:
        order.properties.status = status_of(order_id, CODES[step])
        history[order_id].append(order.properties.status)
    return order.model_copy(deep=True)


async def create_order(router, payload, request):
    if payload.filter is not None and payload.filter.get("op") != "<=":
        return Failure(QueryablesError("only upper limits are supported"))
    order_id = str(uuid4())
    placed = status_of(order_id, CODES[0])
    search = {"datetime": payload.datetime, "geometry": payload.geometry, "filter": payload.filter}
    properties = OrderProperties[OrderStatus](
        product_id=router.product.id,
        created=datetime.now(UTC),
        status=placed,
        search_parameters=OrderSearchParameters(**search),
        opportunity_properties={"datetime": "/".join(each.isoformat() for each in payload.datetime), "product_id": router.product.id},
        order_parameters=payload.order_parameters.model_dump(),
    )
    orders[order_id] = Order[OrderStatus](id=order_id, geometry=payload.geometry, properties=properties, links=[])
    history[order_id] = [placed]
    return Success(orders[order_id].model_copy(deep=True))


async def search_opportunities(router, search, next_page, limit, request):
    """Five passes, of which each page has as many as were asked for."""
    first = int(next_page or 0)
    found = [
        Opportunity(
            type="Feature",
            geometry=search.geometry,
            properties=OpportunityProperties(datetime=search.datetime, product_id=router.product.id, platform=f"peer-{number}"),
        )
        for number in range(first, min(5, first + limit))
    ]
    return Success((found, Some(str(first + limit)) if first + limit < 5 else Nothing))


async def get_orders(next_page, limit, request):
    first, ids = int(next_page or 0), list(orders)
    page = [orders[order_id].model_copy(deep=True) for order_id in ids[first : first + limit]]
    return Success((page, Some(str(first + limit)) if first + limit < len(ids) else Nothing, Nothing))


async def get_order(order_id, request):
    return Success(Some(advance(order_id)) if order_id in orders else Nothing)


async def get_order_statuses(order_id, next_page, limit, request):
    return Success(Some((history[order_id], Nothing)) if order_id in orders else Nothing)


def product(product_id, geometry):
    return Product(
        id=product_id,
        title=product_id,
        license="proprietary",
        conformsTo=[f"https://geojson.org/schema/{geometry}.json"],
        create_order=create_order,
        search_opportunities=search_opportunities,
        queryables=Limits,
        opportunity_properties=OpportunityProperties,
        order_parameters=Parameters,
    )


app = FastAPI()
root = RootRouter(get_orders=get_orders, get_order=get_order, get_order_statuses=get_order_statuses)
root.add_product(product("Area:Standard", "Polygon"))
root.add_product(product("Spot:Standard", "Point"))


@app.middleware("http")
async def guard(request: Request, call_next):
    is_file = request.url.path.startswith("/files/")
    if not is_file and request.headers.get("authorization") != f"Bearer {given['key']}":
        return JSONResponse({"detail": "Unauthorized"}, 401)
    response = await call_next(request)
    print(json.dumps({"request": f"{request.method} {request.url.path}", "status": response.status_code}), flush=True)
    if request.method == "POST" and request.url.path.endswith("/orders") and response.status_code == 201 and lost[0]:
        lost[0] = False
        return JSONResponse({"detail": "Bad gateway"}, 502)
    return response


@app.get("/items/{order_id}")
async def item(order_id: str):
    west, south, east, north = given["bbox"]
    ring = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    image = {"href": f"{base[0]}/files/{order_id}.tif", "type": "image/tiff; application=geotiff", "roles": ["data"]}
    return {
        "type": "Feature",
        "stac_version": "1.0.0",
        "id": f"peer_{order_id}",
        "geometry": {"type": "Polygon", "coordinates": [ring]},
        "bbox": given["bbox"],
        "properties": {"datetime": given["datetime"]},
        "links": [],
        "assets": {"image": image},
    }


@app.get("/files/{name}")
async def image_file(name: str):
    return FileResponse(given["file"], media_type="image/tiff")


app.include_router(root, prefix="/stapi")
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
base.append(f"http://127.0.0.1:{listener.getsockname()[1]}")
print(json.dumps({"port": listener.getsockname()[1]}), flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listener])
