"""Imports a generated client as a whole, finds every operation in it, and calls some. What is missing and what came is printed."""
import importlib
import inspect
import json
import pkgutil
import re
import sys

kind, folder, spec = sys.argv[1:4]
sys.path.insert(0, folder)
document = json.load(open(spec))
operations = [operation for methods in document["paths"].values() for operation in methods.values()]
requests = {
    content["schema"]["$ref"].split("/")[-1]
    for operation in operations
    for content in operation.get("requestBody", {}).get("content", {}).values()
}


def modules(package):
    yield package
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        yield importlib.import_module(found.name)


def snake(name):
    return re.sub(r"\W+", "_", name)


if kind == "openapi-python-client":
    functions = {
        module.__name__.split(".")[-1] for module in modules(importlib.import_module("generated.api")) if hasattr(module, "sync_detailed")
    }
    models = set(vars(importlib.import_module("generated.models")))
    missing = [o["operationId"] for o in operations if snake(o["operationId"]) not in functions] + sorted(requests - models)

    from generated.api.projects import projects_create, projects_get, projects_list
    from generated.client import AuthenticatedClient
    from generated.models import Problem, ProjectsCreateRequest, ProjectsGetRequest, ProjectsListRequest

    client = AuthenticatedClient(base_url=sys.argv[4], token=sys.argv[5])
    created = projects_create.sync(client=client, body=ProjectsCreateRequest(name="Reef"))
    listed = projects_list.sync(client=client, body=ProjectsListRequest(limit=10))
    absent = projects_get.sync(client=client, body=ProjectsGetRequest(project_id="0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10"))
    called = {
        "created": created.name,
        "listed": sorted(project.name for project in listed.projects),
        "problem": absent.code if isinstance(absent, Problem) else None,
    }
elif kind == "openapi-generator":
    package = importlib.import_module("openapi_client")
    for _ in modules(package):
        pass
    apis = [value for name, value in vars(package).items() if name.endswith("Api")]
    methods = {name for api in apis for name, _ in inspect.getmembers(api, inspect.isfunction)}
    missing = [o["operationId"] for o in operations if snake(o["operationId"]) not in methods]
    called = {}
else:
    models = importlib.import_module("generated")
    missing = sorted(requests - set(vars(models)))
    called = {"created": models.ProjectsCreateRequest(name="Reef").name}

print(json.dumps({"operations": len(operations), "missing": missing, "called": called}))
