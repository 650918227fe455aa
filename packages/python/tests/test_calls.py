"""Goal: calls, lists, problems, retries and sessions work alike in both clients, against the real service."""

from __future__ import annotations

import json
import os
import pickle
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import EMAIL, PASSWORD, URL, Connect
from groundtrack import Groundtrack, GroundtrackError, NetworkError, ProblemError, SessionTokens, credentials, is_problem
from groundtrack.generated.operations import OPERATION_IDS, PRICED_OPERATIONS
from groundtrack.prices import ESTIMATES
from groundtrack.records import Record


def test_lists_have_pages_and_records(gt: Any, furnished: str) -> None:
    everything = [item.id for item in gt.items.list(project_id=furnished)]
    assert len(everything) > 2
    pages = list(gt.items.list(project_id=furnished, limit=2).pages())
    assert [item.id for page in pages for item in page.items] == everything
    assert len(pages) >= 2
    assert gt.items.list(project_id=furnished).first().id == everything[0]
    assert [feature.id for feature in gt.items.search(project_id=furnished, limit=2)] and len(gt.projects.list().all()) >= 1


def test_records_are_typed_objects_and_plain_json(gt: Any, furnished: str) -> None:
    item = gt.items.list(project_id=furnished).first()
    assert (item.name, item.id) == (item["name"], item["id"])
    assert "name" in item and set(item) == set(item.to_dict())
    with pytest.raises(AttributeError, match="has no field 'nmae'"):
        item.nmae
    assert json.loads(json.dumps(item.to_dict())) == item.to_dict()
    copy = pickle.loads(pickle.dumps(item))
    assert copy == item
    with pytest.raises(GroundtrackError, match="not returned by a client"):
        copy.open()
    assert gt.items.get(item_id=item.id).item.geometry == item.geometry
    assert gt.items.list_assets(item_id=item.id)[0].item_id == item.id
    assert gt.cog.formulas()["ndvi"].to_dict()


def test_optional_fields_that_are_missing_are_none(gt: Any, furnished: str) -> None:
    found = gt.items.search(project_id=furnished, limit=1).fetch()
    assert "numberMatchedEstimated" not in found and found.numberMatchedEstimated is None


def test_none_is_sent_and_omitted_fields_are_not(connect: Connect, project_id: str) -> None:
    bodies: list[Any] = []
    gt = connect(before=lambda request: bodies.append(json.loads(request.content)))
    gt.items.list(project_id=project_id, limit=1).fetch()
    assert bodies == [{"project_id": project_id, "limit": 1}]
    with pytest.raises(ProblemError):
        gt.uploads.list(project_id=project_id, status=None, limit=0).fetch()
    assert bodies[1] == {"project_id": project_id, "status": None, "limit": 0}


def test_problems(gt: Any) -> None:
    with pytest.raises(ProblemError) as caught:
        gt.projects.create(name="")
    problem = caught.value
    assert (problem.slug, problem.status, problem.operation) == ("invalid-input", 422, "projects.create")
    assert problem.errors[0].field == "name" and problem.errors[0].message in str(problem)
    assert problem.invocation_id and is_problem(problem, "invalid-input") and not is_problem(problem, "not-found")
    with pytest.raises(ProblemError) as missing:
        gt.items.get(item_id="01a1dd96-0000-7000-8000-000000000000")
    assert missing.value.slug == "not-found"


def test_one_key_for_all_attempts_and_one_effect(connect: Connect) -> None:
    keys: list[str] = []

    def lose_first(request: httpx.Request, response: httpx.Response) -> httpx.Response:
        keys.append(request.headers["idempotency-key"])
        if len(keys) == 1:
            raise httpx.ReadError("the connection was reset", request=request)
        return response

    name = f"Once {time.time_ns()}"
    project = connect(after=lose_first).projects.create(name=name)
    assert len(keys) == 2 and keys[0] == keys[1]
    assert [each.id for each in connect().projects.list() if each.name == name] == [project.id]
    keys.clear()
    connect(after=lose_first).projects.create(name=f"{name}!", options={"idempotency_key": f"own-{name.split()[1]}"})
    assert keys == [f"own-{name.split()[1]}"] * 2


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after(connect: Connect, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float | None] = []
    monkeypatch.setattr("groundtrack.client.delay", lambda attempt, retry_after=None: waits.append(retry_after) or 0)
    problem = {"code": "rate-limited", "status": status, "title": "Busy", "detail": "Busy", "instance": ""}

    def busy(times: int, seconds: str) -> Any:
        left = [times]

        def before(request: httpx.Request) -> httpx.Response | None:
            left[0] -= 1
            return httpx.Response(status, json=problem, headers={"retry-after": seconds}) if left[0] >= 0 else None

        return before

    assert connect(before=busy(2, "7")).projects.list().first() is not None
    assert waits == [7, 7]
    with pytest.raises(ProblemError) as caught:
        connect(before=busy(1, "61")).projects.list().fetch()
    assert caught.value.retry_after == 61
    with pytest.raises(ProblemError):
        connect(before=busy(4, "0")).projects.list().fetch()
    with pytest.raises(ProblemError):
        connect(before=busy(1, "0"), max_retries=0).projects.list().fetch()


def test_failures_say_what_to_do(connect: Connect) -> None:
    with pytest.raises(ProblemError, match=r"rejected the API key: .* Create a new key, or check GROUNDTRACK_API_KEY\."):
        connect(api_key="svc_wrong").projects.list().fetch()
    with pytest.raises(NetworkError, match=r"no response from http://127\.0\.0\.1:9 \(.*\)\. Check that the service is running"):
        connect(base_url="http://127.0.0.1:9", max_retries=1).projects.list().fetch()
    with pytest.raises(ProblemError, match="has no operation items.levitate: it is older than this client"):
        connect().call("items.levitate", {})
    with _another_server() as other, pytest.raises(ProblemError, match=f"{other} may not be a Groundtrack service"):
        connect(base_url=other).projects.list().fetch()
    with pytest.raises(NetworkError, match="timed out"):
        connect(before=_raise(httpx.ReadTimeout("")), max_retries=0).projects.list().fetch()


@contextmanager
def _another_server() -> Iterator[str]:
    """A web server that knows no operations: 404 for every POST."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.send_error(404)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()


def _raise(error: Exception) -> Any:
    def fail(_request: httpx.Request) -> None:
        raise error

    return fail


PROGRAM = """
from groundtrack import Groundtrack
Groundtrack("http://127.0.0.1:9", "svc_x", max_retries=0).projects.list().fetch()
"""


def test_uncaught_errors_print_one_sentence() -> None:
    def printed(**env: str) -> str:
        run = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env={**os.environ, **env})
        assert run.returncode == 1 and run.stdout == ""
        return run.stderr

    quiet = printed()
    assert quiet.startswith("NetworkError: projects.list: no response from http://127.0.0.1:9") and quiet.count("\n") == 1
    assert "Traceback" in printed(GROUNDTRACK_TRACEBACK="1")
    error = NetworkError("projects.list", URL, "refused")
    assert error._render_traceback_() == [f"NetworkError: {error}"]


def test_sessions_are_renewed_once(connect: Connect) -> None:
    saved: list[SessionTokens | None] = []
    first = connect(api_key=None)
    first.auth.sign_in(email=EMAIL, password=PASSWORD)
    tokens = first.session.tokens
    stale = SessionTokens("expired", tokens.refresh_token, time.time() + 600)
    gt = connect(api_key=None, session=stale, on_session=saved.append)
    results: list[int] = []
    threads = [threading.Thread(target=lambda: results.append(gt.projects.list().fetch().total)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4 and len(saved) == 1 and saved[0] is not None
    gt.auth.sign_out()
    assert saved[1] is None
    assert "expired" not in repr(stale) and tokens.refresh_token not in repr(tokens)


def test_a_session_that_is_rejected_ends(connect: Connect) -> None:
    saved: list[SessionTokens | None] = []
    gt = connect(api_key=None, session=SessionTokens("expired", "wrong", 0), on_session=saved.append)
    with pytest.raises(ProblemError):
        gt.projects.list().fetch()
    assert saved == [None]


def test_credentials(monkeypatch: pytest.MonkeyPatch, api_key: str) -> None:
    found = credentials.find()
    assert (found.server, found.api_key) == (URL, None)
    credentials.save_key(api_key, store="file")
    file = Path(os.environ["GROUNDTRACK_CONFIG"])
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert Groundtrack().projects.list().first() is not None
    other = credentials.find("http://elsewhere.example")
    assert other.api_key is None, "a stored key goes to its own server only"
    monkeypatch.setenv("GROUNDTRACK_API_KEY", "svc_env")
    assert credentials.find().api_key == "svc_env" and credentials.find(api_key="svc_given").api_key == "svc_given"
    assert api_key not in repr(credentials.find(api_key=api_key))
    monkeypatch.delenv("GROUNDTRACK_API_KEY")
    with pytest.raises(GroundtrackError, match="no account named 'nobody'. Create it with"):
        credentials.find(account="nobody")
    file.write_text("{")
    with pytest.raises(GroundtrackError, match="not valid JSON. Fix or delete it"):
        credentials.find()


def test_a_session_of_the_command_line_is_used_and_kept_current() -> None:
    with Groundtrack(URL) as signed_in:
        signed_in.auth.sign_in(email=EMAIL, password=PASSWORD)
        tokens = signed_in.session.tokens
    assert tokens is not None
    file = Path(os.environ["GROUNDTRACK_CONFIG"])
    session = {"accessToken": "old", "refreshToken": tokens.refresh_token, "expiresAt": 0, "organizationId": None}
    file.write_text(json.dumps({"current": "work", "accounts": {"work": {"server": URL, "session": session}}}))
    assert Groundtrack().projects.list().first() is not None
    stored = json.loads(file.read_text())["accounts"]["work"]["session"]
    assert stored["accessToken"] != "old" and stored["expiresAt"] > time.time() * 1000


def test_the_keyring(monkeypatch: pytest.MonkeyPatch, api_key: str) -> None:
    keyring = pytest.importorskip("keyring")
    from keyring.backend import KeyringBackend

    class Memory(KeyringBackend):
        priority = 1
        kept: dict[tuple[str, str], str] = {}

        def set_password(self, service: str, username: str, password: str) -> None:
            self.kept[service, username] = password

        def get_password(self, service: str, username: str) -> str | None:
            return self.kept.get((service, username))

    before = keyring.get_keyring()
    keyring.set_keyring(Memory())
    try:
        credentials.save_key(api_key)
        assert Groundtrack().projects.list().first() is not None
        assert credentials.find("http://elsewhere.example").api_key is None
    finally:
        keyring.set_keyring(before)


def test_a_client_is_never_pickled(api_key: str) -> None:
    with pytest.raises(GroundtrackError, match="cannot be pickled"):
        pickle.dumps(Groundtrack(URL, api_key))
    assert api_key not in repr(Groundtrack(URL, api_key))


def test_bytes_text_and_lines(gt: Any, uploaded: str) -> None:
    tile = gt.items.tile.render(item_id=uploaded, z=0, x=0, y=0, format="png")
    assert tile.media_type == "image/png" and tile[:4] == b"\x89PNG"
    assert gt.items.tile.wmts_capabilities(item_id=uploaded, base_url=URL).startswith("<?xml")
    lines = list(gt.catalog.search_stream(host_name="sandbox-hr", bbox=[2.2, 48.1, 2.4, 48.3], limit=3))
    assert lines[0].type == "Feature" and lines[-1].type != "Feature"


def test_prices(gt: Any, uploaded: str) -> None:
    assert tuple(ESTIMATES) == PRICED_OPERATIONS
    price = gt.price("processing.create_and_dispatch", job_type_id="cog_convert", input_params={"item_id": uploaded})
    assert price.credits is not None and price.aud == price.credits / 100
    assert gt.price("billing.topup", credits=500).aud == 5
    assert gt.price("projects.list").note == "This operation has no estimate"


def test_every_operation_has_a_method(api_key: str) -> None:
    gt = Groundtrack(URL, api_key)
    for operation in OPERATION_IDS:
        target: Any = gt
        for part in operation.split("."):
            target = getattr(target, part)
        assert callable(target) and target.__doc__, operation


def test_analytics_have_a_type_per_method(gt: Any, uploaded: str) -> None:
    bbox = gt.items.get(item_id=uploaded).item.bbox
    west, south = (bbox[0] + bbox[2]) / 2, (bbox[1] + bbox[3]) / 2
    ring = [[west, south], [west + 0.01, south], [west + 0.01, south + 0.01], [west, south + 0.01], [west, south]]
    params = {"item_id": uploaded, "geometry": {"type": "Polygon", "coordinates": [ring]}, "index_name": "ndvi", "statistics": ["mean"]}
    answer = gt.analytics.execute(operation="zonal_stats", params=params)
    assert type(answer).__name__ == "AnalyticsExecuteZonalStatsOutput"
    assert -1 <= answer.result.zones[0].results[0].mean <= 1


def test_no_secret_is_in_the_text_of_a_record(demo: Any) -> None:
    """A notebook saves what its cells show."""
    asset = demo.gt.items.list_assets(item_id=demo.item.id)[0]
    signed = demo.gt.items.asset.download(item_id=demo.item.id, asset_id=asset.id)
    assert signed.url.split("signature=")[1] not in repr(signed)
    with Groundtrack(URL) as person:
        grant = person.auth.sign_in(email=EMAIL, password=PASSWORD)
        assert grant.access_token not in repr(grant) and grant.refresh_token not in repr(grant)
        created = person.api_keys.create(name="shown", permissions=["read"], expires_in_days=1)
        assert created.key.startswith("svc_") and created.key not in repr(created) and "svc_…" in repr(created)
    nested = Record({"webhook": {"signing_secret": "whsec_abc", "url": "https://a.example/?X-Amz-Signature=12ab&x=1"}, "tokens": 3})
    assert repr(nested) == "Record(webhook={'signing_secret': '…', 'url': 'https://a.example/?X-Amz-Signature=…&x=1'}, tokens=3)"
