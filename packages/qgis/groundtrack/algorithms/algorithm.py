"""A process of the service as an algorithm: its form, price, progress, cancellation, and its result as a layer."""

from __future__ import annotations

import json
import os
from typing import Any
from urllib.parse import quote

from qgis.core import (
    QgsProcessing,
    QgsProcessingAlgorithm,
    QgsProcessingContext,
    QgsProcessingException,
    QgsProcessingFeedback,
    QgsProcessingLayerPostProcessorInterface,
    QgsProcessingOutputString,
    QgsProcessingParameterDefinition,
    QgsProcessingParameterFileDestination,
    QgsProcessingParameterNumber,
    QgsProcessingParameterRasterDestination,
    QgsProcessingParameterString,
    QgsProcessingParameterVectorDestination,
    QgsVectorFileWriter,
    QgsVectorLayer,
)
from qgis.PyQt.QtGui import QIcon

from .. import http, layers, log
from ..connection import Connection
from ..errors import CanceledError, PluginError, code_of
from ..icons import icon
from ..service import Patience, Service, wait
from ..transfers import download
from .parameters import Input, input_of

OUTPUT, ITEM_ID, JOB_ID, PROJECT, MAX_CREDITS = "OUTPUT", "ITEM_ID", "JOB_ID", "PROJECT_ID", "MAX_CREDITS"
FIRST_POLL, MAX_POLL = 0.5, 5.0
MAX_WAIT_SECONDS = 24 * 3_600.0
VECTOR, TABLE, RASTER = "vector", "statistics", "raster"
GROUPS = {
    "geometry": "Clip, reproject and resample",
    "bands": "Bands and indices",
    "terrain": "Terrain",
    "time": "Many scenes",
    "vector": "To vectors",
    "statistics": "Statistics",
    "conversion": "Conversion",
}


class _Marks(QgsProcessingLayerPostProcessorInterface):
    """Tells the layer which item it shows, once it is in the project."""

    def __init__(self, item_id: str) -> None:
        super().__init__()
        self._item_id = item_id

    def postProcessLayer(self, layer: Any, context: Any, feedback: Any) -> None:  # noqa: N802: QGIS calls it by this name.
        layers.mark(layer, self._item_id, "")


_marks: list[_Marks] = []
"""QGIS calls them later and does not own them."""
_MAX_MARKS = 100


class ProcessAlgorithm(QgsProcessingAlgorithm):
    def __init__(self, process: dict[str, Any], connection: Connection) -> None:
        super().__init__()
        self._process, self._connection = process, connection
        self._inputs: list[Input] = []
        self._service: Service | None = None
        self._sent: dict[str, Any] = {}
        self._project_id = ""

    def createInstance(self) -> ProcessAlgorithm:  # noqa: N802: QGIS calls it by this name.
        return ProcessAlgorithm(self._process, self._connection)

    def name(self) -> str:
        return str(self._process["id"])

    def displayName(self) -> str:  # noqa: N802
        return str(self._process["title"])

    def groupId(self) -> str:  # noqa: N802
        return str((self._process.get("keywords") or ["other"])[0])

    def group(self) -> str:
        return GROUPS.get(self.groupId(), self.groupId().capitalize())

    def icon(self) -> QIcon:
        return icon()

    def shortDescription(self) -> str:  # noqa: N802
        return str(self._process["description"])

    def shortHelpString(self) -> str:  # noqa: N802
        rows = "".join(f"<p><b>{name.replace('_', ' ')}</b>: {described['description']}</p>" for name, described in self._described().items())
        price = "Runs on the server and costs credits; the log shows the price before the work starts. <b>Maximum price</b> stops it if it is higher."
        return f"<p>{self._process['description']}</p>{rows}<p>{price}</p>"

    def helpUrl(self) -> str:  # noqa: N802
        return f"{self._connection.url}/docs" if self._connection.is_stored else ""

    def _described(self) -> dict[str, Any]:
        return {name: described for name, described in self._process["inputs"].items() if name != "project_id"}

    def _kind(self) -> str:
        category = self.groupId()
        return category if category in (VECTOR, TABLE) else RASTER

    def initAlgorithm(self, configuration: Any = None) -> None:  # noqa: N802
        self._inputs = [input_of(name, described) for name, described in self._described().items()]
        for each in self._inputs:
            for parameter in each.parameters:
                self.addParameter(parameter)
        advanced = QgsProcessingParameterDefinition.Flag.FlagAdvanced
        for extra in (
            QgsProcessingParameterString(PROJECT, "Project ID for the result, if not the project of the layer", optional=True),
            QgsProcessingParameterNumber(
                MAX_CREDITS, "Maximum price in credits", QgsProcessingParameterNumber.Type.Integer, optional=True, minValue=0
            ),
        ):
            extra.setFlags(extra.flags() | advanced)
            self.addParameter(extra)
        self.addParameter(self._destination())
        self.addOutput(QgsProcessingOutputString(ITEM_ID, "Item ID of the result"))
        self.addOutput(QgsProcessingOutputString(JOB_ID, "Job ID"))

    def _destination(self) -> QgsProcessingParameterDefinition:
        title = self.displayName()
        if self._kind() == VECTOR:
            return QgsProcessingParameterVectorDestination(
                OUTPUT, title, QgsProcessing.SourceType.TypeVectorAnyGeometry, optional=True, createByDefault=True
            )
        if self._kind() == TABLE:
            return QgsProcessingParameterFileDestination(OUTPUT, title, "CSV (*.csv)", optional=True, createByDefault=True)
        return QgsProcessingParameterRasterDestination(OUTPUT, title, optional=True, createByDefault=True)

    def prepareAlgorithm(self, parameters: dict[str, Any], context: QgsProcessingContext, feedback: QgsProcessingFeedback) -> bool:  # noqa: N802
        """In the main thread: reads layers and the stored credential, which other threads must not do."""
        try:
            self._service = self._connection.service
            read = {each.name: each.read(self, parameters, context) for each in self._inputs}
            self._sent = {name: value for name, value in read.items() if value is not None}
            self._project_id = self.parameterAsString(parameters, PROJECT, context).strip()
        except Exception as error:
            raise QgsProcessingException(log.sentence(error)) from None
        return True

    def processAlgorithm(self, parameters: dict[str, Any], context: QgsProcessingContext, feedback: QgsProcessingFeedback) -> dict[str, Any]:  # noqa: N802
        try:
            return self._run(parameters, context, feedback)
        except CanceledError:
            return {}
        except QgsProcessingException:
            raise
        except Exception as error:
            raise QgsProcessingException(log.sentence(error)) from None

    def _run(self, parameters: dict[str, Any], context: QgsProcessingContext, feedback: QgsProcessingFeedback) -> dict[str, Any]:
        service = self._service
        assert service is not None
        limit = parameters.get(MAX_CREDITS)
        self._check_price(service, None if limit in (None, "") else self.parameterAsInt(parameters, MAX_CREDITS, context), feedback)
        job = self._start(service, feedback)
        feedback.pushInfo(f"Job {job['jobID']}")
        self._await_end(service, job, feedback)
        results = json.loads(service.request("GET", f"/jobs/{job['jobID']}/results", feedback=feedback).body)
        item = _items_of(results)[0]
        feedback.pushInfo(f"Item {item['item_id']}: {item.get('name', '')}")
        outputs: dict[str, Any] = {ITEM_ID: item["item_id"], JOB_ID: job["jobID"]}
        if parameters.get(OUTPUT):
            outputs[OUTPUT] = self._save(service, item["item_id"], parameters, context, feedback)
        return outputs

    def _check_price(self, service: Service, limit: int | None, feedback: QgsProcessingFeedback) -> None:
        price = service.call("processing.catalog.estimate", {"process_id": self.name(), "inputs": self._sent}, feedback=feedback)
        feedback.pushInfo(f"Price: {price['credits']} credits (A${price['aud']:.2f})")
        if limit is not None and price["credits"] > limit:
            raise PluginError(
                f"The price is {price['credits']} credits, above the maximum of {limit}. Nothing was started; raise the maximum or use a smaller area."
            )

    def _start(self, service: Service, feedback: QgsProcessingFeedback) -> dict[str, Any]:
        project_id = self._project_id or self._project_of_first_item(service)
        path = f"/processes/{quote(self.name())}/execution?project_id={quote(project_id)}"
        response = service.request("POST", path, {"inputs": self._sent}, is_keyed=True, headers={"prefer": "respond-async"})
        job: dict[str, Any] = json.loads(response.body)
        return job

    def _project_of_first_item(self, service: Service) -> str:
        for name, value in self._sent.items():
            if name.endswith(("item_id", "item_ids")):
                return str(layers.get_item(service, value[0] if isinstance(value, list) else value)["project_id"])
        raise PluginError("Enter the ID of the project for the result, under Advanced parameters.")

    def _await_end(self, service: Service, job: dict[str, Any], feedback: QgsProcessingFeedback) -> None:
        """The server ends a job that exceeds its time limit; a server that does not is not waited for."""
        path, poll, waited, stage, patience = f"/jobs/{job['jobID']}", FIRST_POLL, 0.0, "", Patience()
        status: dict[str, Any] = {"status": "accepted"}
        try:
            while True:
                status = patience.ask(lambda: json.loads(service.request("GET", path, feedback=feedback).body)) or status
                feedback.setProgress(0.9 * float(status.get("progress") or 0))
                if status.get("message", "") != stage:
                    stage = status.get("message", "")
                    feedback.setProgressText(stage)
                if status["status"] == "successful":
                    return
                if status["status"] == "failed":
                    raise PluginError(f"The job failed: {stage or 'the server gave no reason'}. It was not charged.")
                if status["status"] == "dismissed":
                    raise PluginError("The job was cancelled on the server. It was not charged.")
                if waited >= MAX_WAIT_SECONDS:
                    raise PluginError(f"The job {job['jobID']} has not ended after a day. It continues on the server; look for it in the console.")
                wait(poll, feedback)
                waited, poll = waited + poll, min(MAX_POLL, poll * 1.5)
        except http.NetworkError as error:
            raise PluginError(f"The server no longer responds. The job {job['jobID']} continues there; look for it in the console.") from error
        except CanceledError:
            _cancel(service, job["jobID"])
            feedback.pushInfo("The job was cancelled. It was not charged.")
            raise

    def _save(
        self, service: Service, item_id: str, parameters: dict[str, Any], context: QgsProcessingContext, feedback: QgsProcessingFeedback
    ) -> str:
        assets = service.call("items.list_assets", {"item_id": item_id}, feedback=feedback)
        asset = _asset_for(self._kind(), assets)

        def progress(percent: float) -> None:
            feedback.setProgress(90 + percent / 10)

        path = str(
            self.parameterAsFileOutput(parameters, OUTPUT, context)
            if self._kind() == TABLE
            else self.parameterAsOutputLayer(parameters, OUTPUT, context)
        )
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        if self._kind() == VECTOR:
            _save_vector(service, item_id, asset, path, context, progress, feedback)
        else:
            download(service, item_id, asset, path, progress=progress, feedback=feedback)
        layers.remember_path(path, item_id)
        if context.willLoadLayerOnCompletion(path):
            mark = _Marks(item_id)
            del _marks[: max(0, len(_marks) - _MAX_MARKS)]
            _marks.append(mark)
            context.layerToLoadOnCompletionDetails(path).setPostProcessor(mark)
        return path


def _cancel(service: Service, job_id: str) -> None:
    try:
        service.request("DELETE", f"/jobs/{job_id}")
    except http.NetworkError as error:
        raise PluginError(f"The server does not respond, so the job {job_id} was not cancelled. Cancel it in the console.") from error


def _items_of(results: Any) -> list[dict[str, Any]]:
    found = results.get("items") if isinstance(results, dict) else results
    value = found.get("value", found) if isinstance(found, dict) else found
    if not value:
        raise PluginError("The job has no result. Its page in the console says why.")
    return list(value)


def _asset_for(kind: str, assets: list[dict[str, Any]]) -> dict[str, Any]:
    def fits(asset: dict[str, Any]) -> bool:
        media_type = str(asset.get("media_type") or "")
        if kind == VECTOR:
            return media_type in layers.VECTOR_TYPES
        return media_type.startswith("text/csv") if kind == TABLE else layers.is_raster(asset)

    found = [asset for asset in assets if fits(asset)]
    if not found:
        raise PluginError("The result has no file that QGIS can open. Look at it in the Browser panel.")
    return next((asset for asset in found if asset["key"] == "data"), found[0])


def _save_vector(
    service: Service, item_id: str, asset: dict[str, Any], path: str, context: QgsProcessingContext, progress: Any, feedback: QgsProcessingFeedback
) -> None:
    """The server sends GeoJSON, which is converted to the format of the destination."""
    if path.lower().endswith((".geojson", ".json")):
        return download(service, item_id, asset, path, progress=progress, feedback=feedback)
    received = f"{path}.geojson"
    try:
        download(service, item_id, asset, received, progress=progress, feedback=feedback)
        layer = QgsVectorLayer(received, "result", "ogr")
        options = QgsVectorFileWriter.SaveVectorOptions()
        options.driverName = QgsVectorFileWriter.driverForExtension(os.path.splitext(path)[1])
        code, message, *_ = QgsVectorFileWriter.writeAsVectorFormatV3(layer, path, context.transformContext(), options)
        if code_of(code) != 0:
            raise PluginError(f"{path} cannot be written: {message}. Check that the disk is not full.")
    finally:
        if os.path.exists(received):
            os.unlink(received)
