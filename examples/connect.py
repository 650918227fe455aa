"""The client, as the environment says."""

from __future__ import annotations

import os

from groundtrack import Groundtrack


def connect() -> Groundtrack:
    gt = Groundtrack()
    email, password = os.environ.get("GROUNDTRACK_EMAIL"), os.environ.get("GROUNDTRACK_PASSWORD")
    if not os.environ.get("GROUNDTRACK_API_KEY") and email and password:
        gt.auth.sign_in(email=email, password=password)
    return gt


def first_project(gt: Groundtrack) -> str:
    """The first project that the caller sees, or the one that the environment names."""
    named = os.environ.get("GROUNDTRACK_PROJECT")
    if named:
        return named
    project = gt.projects.list(limit=1).first()
    if project is None:
        raise SystemExit("There is no project yet")
    return project.id
