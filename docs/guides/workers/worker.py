"""A complete worker from outside, with nothing but Python's own library: asks for jobs, fetches their inputs, runs a command
on each, puts what it made and registers it.

    BASE=http://127.0.0.1:8080 WORKER_SECRET=wrk_... COMMAND='gdal_translate -q -of COG {input} {output}' python3 worker.py

ONCE=1 ends it when nothing waits.
"""
import json
import os
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.request

BASE = os.environ.get("BASE", "http://127.0.0.1:8080")
SECRET = os.environ.get("WORKER_SECRET", "")
COMMAND = os.environ.get("COMMAND", "gdal_translate -q -of COG {input} {output}")
ONCE = bool(os.environ.get("ONCE"))
REPORT_EVERY_SECONDS = float(os.environ.get("REPORT_EVERY_SECONDS", "30"))


class Cancelled(Exception):
    pass


def send(url, token, body):
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, json.dumps(body).encode(), headers, method="POST")
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            text = answer.read()
            return json.loads(text) if text else None
    except urllib.error.HTTPError as error:
        raise RuntimeError(f"{url} answered {error.code}: {error.read().decode()}") from error


def register(claimed, **report):
    """Every report is answered with the job as it is: one that was cancelled needs no more work."""
    answer = send(f"{BASE}/v1/op/processing.job.register", claimed["token"], {"job_id": claimed["job"]["id"], **report})
    if answer["job"]["status"] == "cancelled":
        raise Cancelled()


def run(claimed, command):
    """Runs the command, reports now and then that it still works, and stops it if the job is cancelled."""
    with subprocess.Popen(command) as child:
        while True:
            try:
                if child.wait(REPORT_EVERY_SECONDS) != 0:
                    raise RuntimeError(f"{command[0]} ended with {child.returncode}")
                return
            except subprocess.TimeoutExpired:
                try:
                    register(claimed, status="running", stage="computing")
                except Cancelled:
                    child.kill()
                    raise


def work(claimed, folder):
    source, target = os.path.join(folder, "input.tif"), os.path.join(folder, "output.tif")
    register(claimed, status="running", progress=5, stage="fetching")
    with urllib.request.urlopen(claimed["inputs"][0]["url"], timeout=60) as answer, open(source, "wb") as file:
        shutil.copyfileobj(answer, file)
    register(claimed, status="running", progress=30, stage="computing")
    run(claimed, [word.format(input=source, output=target) for word in COMMAND.split()])
    register(claimed, status="running", progress=90, stage="storing")
    asked = send(claimed["outputs_url_template"].replace("{name}", "output.tif"), claimed["token"], {"content_type": "image/tiff"})
    with open(target, "rb") as file:
        headers = {"Content-Type": asked["content_type"], "Content-Length": str(os.path.getsize(target))}
        urllib.request.urlopen(urllib.request.Request(asked["url"], file, headers, method="PUT"), timeout=600).close()
    register(claimed, status="completed", outputs=[{"name": "output.tif", "key": "data", "title": "Converted"}])


while True:
    job = send(f"{BASE}/workers/claim", SECRET, {"wait_seconds": 0 if ONCE else 25})
    if job is None:
        if ONCE:
            break
        continue
    with tempfile.TemporaryDirectory(prefix="worker-") as scratch:
        try:
            work(job, scratch)
            print(job["job"]["id"], "completed")
        except Cancelled:
            print(job["job"]["id"], "was cancelled")
        except Exception as error:  # Whatever it was, the job must not wait for its time to run out.
            print(job["job"]["id"], "failed:", error)
            register(job, status="failed", error=str(error)[:1000])
