"""Receives webhooks: `WEBHOOK_SECRET=whsec_… webhook-receiver.py [port]`. Only what is signed is believed, each event once."""

from __future__ import annotations

import json
import os
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from groundtrack import SignatureError, verify_webhook

SECRET = os.environ.get("WEBHOOK_SECRET", "")
MAX_SEEN = 10_000
MAX_BODY_BYTES = 64 * 1024
# Deliveries come at least once; a real receiver keeps these in its database.
seen: set[str] = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        length = int(self.headers.get("content-length", 0))
        if length > MAX_BODY_BYTES:
            return self.answer(413)
        try:
            event = verify_webhook(self.rfile.read(length), self.headers.get("x-svc-signature"), SECRET)
        except SignatureError:
            return self.answer(401)
        if event.event_id not in seen:
            print(event.timestamp, event.event_type, event.entity_id, flush=True)
        if len(seen) >= MAX_SEEN:
            seen.clear()
        seen.add(event.event_id)
        self.answer(204)

    def answer(self, status: int) -> None:
        self.send_response(status)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1]) if len(sys.argv) > 1 else 3000), Receiver)
print(f"listening at {json.dumps({'address': '127.0.0.1', 'port': server.server_port})}", flush=True)
server.serve_forever()
