"""Schemas of STAC and its extensions from a folder, served on loopback in place of their hosts.

Import this before a validator: whatever it asks of one of these hosts is asked of the folder instead. A schema that the folder
does not have is an error, never a pass.
"""

import functools
import http.server
import os
import threading
import urllib.parse
import urllib.request

import requests

FOLDER = os.environ["STAC_SCHEMAS"]
HOSTS = {name for name in os.listdir(FOLDER) if os.path.isdir(os.path.join(FOLDER, name))}


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


_server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=FOLDER))
threading.Thread(target=_server.serve_forever, daemon=True).start()


def local(url):
    parts = urllib.parse.urlsplit(url)
    if parts.hostname not in HOSTS:
        return url
    return f"http://127.0.0.1:{_server.server_port}/{parts.hostname}{parts.path}"


_request = requests.sessions.Session.request
requests.sessions.Session.request = lambda self, method, url, **more: _request(self, method, local(url), **more)

_urlopen = urllib.request.urlopen


def urlopen(url, *rest, **more):
    if isinstance(url, urllib.request.Request):
        url.full_url = local(url.full_url)
    else:
        url = local(url)
    return _urlopen(url, *rest, **more)


urllib.request.urlopen = urlopen
