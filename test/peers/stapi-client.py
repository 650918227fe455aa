"""Uses a STAPI server with pystapi-client. Prints as JSON what each call found, or how it failed."""

import json
import sys

from pystapi_client.client import Client
from stapi_pydantic import OrderParameters, OrderPayload
from pydantic import ConfigDict

given = json.loads(sys.argv[1])


class Parameters(OrderParameters):
    model_config = ConfigDict(extra="allow")


def sign(request):
    request.headers.update(given["headers"])
    return request


def outcome(work):
    """What was found, or the error with the status of the response."""
    try:
        return work()
    except Exception as error:
        return f"{type(error).__name__} {getattr(error, 'status_code', None)}"


def order(client):
    fields = {key: given[key] for key in ("datetime", "geometry", "filter", "order_parameters")}
    payload = OrderPayload[Parameters].model_validate(fields, strict=False)
    return client.create_product_order(given["product"], payload).id


def passes(client):
    start, end = given["datetime"].split("/")
    found = list(client.get_product_opportunities(given["product"], (start, end), given["geometry"], given["filter"], limit=3))
    return len(found)


def run():
    found = {
        "below a path": outcome(lambda: len(list(Client.open(given["url"], request_modifier=sign).get_products()))),
        "with headers": outcome(lambda: len(list(Client.open(given["root"], headers=given["headers"]).get_orders()))),
    }
    client = Client.open(given["root"], request_modifier=sign)
    return {
        **found,
        "conformance": client.has_conforms_to(),
        "products": outcome(lambda: [each.id for each in client.get_products(limit=1)]),
        "product": outcome(lambda: client.get_product(given["product"]).id),
        "passes": outcome(lambda: passes(client)),
        "order": outcome(lambda: order(client)),
        "orders": outcome(lambda: len(list(client.get_orders(limit=1)))),
        "one order": outcome(lambda: [client.get_order(each).id for each in given["orders"]]),
    }


print(json.dumps(run(), default=str))
