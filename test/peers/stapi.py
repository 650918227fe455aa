"""Uses a STAPI server as its own models see it: every document is validated by stapi-pydantic. Prints what it found as JSON."""

import json
import sys

import httpx
from stapi_pydantic import (
    Conformance,
    Opportunity,
    OpportunityCollection,
    OpportunityPayload,
    OpportunityProperties,
    Order,
    OrderCollection,
    OrderParameters,
    OrderPayload,
    OrderStatus,
    OrderStatuses,
    Product,
    ProductsCollection,
    Queryables,
    RootResponse,
)
from geojson_pydantic.geometries import Geometry
from pydantic import ConfigDict

given = json.loads(sys.argv[1])
http = httpx.Client(headers=given["headers"], timeout=120)
Passes = OpportunityCollection[Geometry, OpportunityProperties]


class Parameters(OrderParameters):
    model_config = ConfigDict(extra="allow")


def fetch(url, status=200, **request):
    response = http.request(request.pop("method", "GET"), str(url), **request)
    assert response.status_code == status, (response.status_code, response.text)
    return response


def link(document, rel):
    return next((each for each in document.links if each.rel == rel), None)


def pages(model, url, **request):
    """Follows `next` links, with their method and body."""
    found = []
    while url is not None:
        page = model.model_validate(fetch(url, **request).json())
        found.append(page)
        following = link(page, "next")
        url = following and following.href
        if following is not None and following.method == "POST":
            request = {"method": "POST", "json": following.body}
    return found


def products_of(root):
    url = f"{link(root, 'products').href}?limit=2"
    return [product for page in pages(ProductsCollection, url) for product in page.products]


def describe(product):
    # The name of the field has no alias for validation, so that the list is compared by itself.
    declared = fetch(link(product, "conformance").href).json()
    Conformance.model_validate({"conforms_to": declared["conformsTo"]})
    queryables = fetch(link(product, "queryables").href).json()
    parameters = fetch(link(product, "order-parameters").href).json()
    Queryables.model_validate(queryables)
    return {
        "conforms": sorted(declared["conformsTo"]) == sorted(product.conformsTo),
        "queryables": sorted(queryables["properties"]),
        "parameters": sorted(parameters["properties"]),
    }


def search(product):
    payload = OpportunityPayload.model_validate(
        {"datetime": given["datetime"], "geometry": given["geometry"], "filter": given["filter"], "limit": 3}, strict=False
    )
    found = pages(Passes, link(product, "opportunities").href, method="POST", json=payload.model_dump(mode="json"))
    passes: list[Opportunity] = [each for page in found for each in page.features]
    order = link(found[0], "create-order")
    return {"pages": len(found), "count": len(passes), "ordered": [each.properties.datetime[0] for each in passes]}, order


def place(create):
    body = {**create.body, "order_parameters": given["order_parameters"]}
    OrderPayload[Parameters].model_validate(body, strict=False)
    response = fetch(create.href, 201, method=create.method, json=body)
    placed = Order[OrderStatus].model_validate(response.json())
    assert response.headers["location"] == str(link(placed, "self").href)
    return placed


def run():
    root = RootResponse.model_validate(fetch(given["url"]).json())
    products = products_of(root)
    product = Product.model_validate(fetch(f"{link(root, 'products').href}/{given['product']}").json())
    found, create = search(product)
    placed = place(create)
    orders = [order for page in pages(OrderCollection[OrderStatus], f"{link(root, 'orders').href}?limit=1") for order in page]
    statuses = OrderStatuses[OrderStatus].model_validate(fetch(link(placed, "monitor").href).json())
    dates = found.pop("ordered")
    known = {order["id"]: order["code"] for order in given.get("orders", [])}
    return {
        "conformance": fetch(link(root, "conformance").href).json()["conformsTo"] == root.conformsTo,
        "products": [each.id for each in products],
        "product": describe(product),
        "passes": {**found, "sorted": dates == sorted(dates)},
        "order": {"product": placed.properties.product_id, "code": placed.properties.status.status_code},
        "listed": placed.id in [order.id for order in orders],
        "codes": {order.id: order.properties.status.status_code for order in orders if order.id in known},
        "statuses": [each.status_code for each in statuses.statuses],
    }


print(json.dumps(run(), default=str))
