"""What Planet's client does at the Data and Orders APIs that it is pointed at; prints it as JSON."""
import asyncio
import json
import sys
from datetime import datetime
from pathlib import Path

from planet import Auth, DataClient, OrdersClient, Session, __version__, data_filter, exceptions, order_request, specs

base, key, folder, given = sys.argv[1:]
given = json.loads(given)

# The client checks names against a document at a fixed address of Planet's, unless it has them already.
BUNDLES = {
    "analytic_8b_sr_udm2": {"assets": {"PSScene": ["ortho_analytic_8b_sr", "ortho_analytic_8b_xml", "ortho_udm2"]}},
    "visual": {"assets": {"PSScene": ["ortho_visual"]}},
}
specs.PRODUCT_BUNDLES.cache = {"bundles": BUNDLES, "bundle_names": BUNDLES.keys(), "item_types": {"PSScene"}}


async def refusal(call):
    try:
        await call
    except exceptions.APIError as error:
        return [type(error).__name__, str(error)]
    return None


async def main():
    said = {"version": __version__}
    async with Session(auth=Auth.from_key(key)) as session:
        data = DataClient(session, base_url=f"{base}/data/v1")
        orders = OrdersClient(session, base_url=f"{base}/compute/ops")
        wanted = data_filter.and_filter(
            [
                data_filter.permission_filter(),
                data_filter.std_quality_filter(),
                data_filter.geometry_filter(given["area"]),
                data_filter.date_range_filter("acquired", gte=datetime.fromisoformat(given["from"])),
                data_filter.range_filter("cloud_cover", lte=0.9),
            ]
        )
        items = [item async for item in data.search(["PSScene"], wanted, sort="acquired desc", limit=50)]
        oldest = [item async for item in data.search(["PSScene"], wanted, sort="acquired asc", limit=3)]
        said["ids"] = [item["id"] for item in items]
        said["acquired"] = [item["properties"]["acquired"] for item in items]
        said["cloud"] = [item["properties"]["cloud_cover"] for item in items]
        said["oldest"] = [item["id"] for item in oldest]
        scene = items[0]["id"]
        said["item"] = (await data.get_item("PSScene", scene))["id"]
        assets = await data.list_item_assets("PSScene", scene)
        said["assets"] = {name: asset["status"] for name, asset in assets.items()}
        said["unknown_item"] = await refusal(data.get_item("PSScene", "nothing"))

        def request(name, **more):
            return order_request.build_request(
                name,
                [order_request.product([scene], "analytic_8b_sr_udm2", "PSScene")],
                order_type="partial",
                tools=[order_request.clip_tool(given["area"]), order_request.file_format_tool("COG")],
                notifications=order_request.notifications(webhook_url="https://example.com/hook", webhook_per_order=True),
                **more,
            )

        order = await orders.create_order(request("first"))
        said["created"] = [order["state"], order["name"]]
        doomed = await orders.create_order(request("doomed"))
        said["cancelled"] = (await orders.cancel_order(doomed["id"]))["state"]
        said["cancelled_again"] = await refusal(orders.cancel_order(doomed["id"]))
        said["named"] = [each["id"] async for each in orders.list_orders(name="first")] == [order["id"]]
        said["none"] = [each["id"] async for each in orders.list_orders(name="nobody")]
        said["stats"] = await orders.aggregated_order_stats()
        bad = request("bad")
        bad["products"][0]["item_ids"] = ["nothing"]
        said["bad_item"] = await refusal(orders.create_order(bad))
        states = []
        said["state"] = await orders.wait(order["id"], delay=1, max_attempts=0, callback=states.append)
        said["states"] = list(dict.fromkeys(states))
        paths = await orders.download_order(order["id"], directory=Path(folder))
        said["files"] = sorted(str(path.relative_to(folder)) for path in paths)
        for checksum in ["MD5", "SHA256"]:
            OrdersClient.validate_checksum(Path(folder) / order["id"], checksum)
        said["order"] = order["id"]
    async with Session(auth=Auth.from_key("not-the-key")) as session:
        said["wrong_key"] = await refusal(OrdersClient(session, base_url=f"{base}/compute/ops").get_order(order["id"]))
    print(json.dumps(said))


asyncio.run(main())
