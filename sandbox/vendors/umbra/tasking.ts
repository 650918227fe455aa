/** The Tasking API of the simulated Umbra: studies, tasks, orders from the archive, and collects. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Position } from '#core/geometry.ts'
import { PASS_LENGTH_MS, RESTRICTED, type PlacedTask, type Study, type UmbraSimulator } from './simulator.ts'
import { invalid, Refused } from '../refused.ts'

type Json = Readonly<Record<string, unknown>>

const MAX_LIMIT = 200
const DEFAULT_LIMIT = 20
const MAX_ITEMS = 50
const SATELLITE = 'UMBRA_05'
const USER = { organizationId: 'org-of-a-test', userId: 'user-of-a-test' }

export function serveTasking(app: FastifyInstance, simulator: UmbraSimulator): void {
  serveStudies(app, simulator)
  serveTasks(app, simulator)
  serveCollects(app, simulator)
  app.get('/tasking/restricted-access-areas', async () => ({
    type: 'FeatureCollection',
    features: [{ type: 'Feature', geometry: RESTRICTED, properties: {} }],
  }))
}

function serveStudies(app: FastifyInstance, simulator: UmbraSimulator): void {
  app.post<{ Body: Json }>('/tasking/feasibilities', async ({ body }, reply) => {
    requireTaskable(body)
    const study = { id: randomUUID(), createdAt: simulator.clock.now(), request: body }
    simulator.studies.set(study.id, study)
    return reply.status(201).send(studyView(simulator, study))
  })
  app.get<{ Params: { id: string } }>('/tasking/feasibilities/:id', async ({ params }) => {
    const study = simulator.studies.get(params.id)
    if (!study) throw new Refused(404, 'Feasibility not found')
    return studyView(simulator, study)
  })
}

function studyView(simulator: UmbraSimulator, study: Study) {
  const status = simulator.studyStatus(study)
  const at = study.createdAt.toISOString()
  const { constraints, windowStartAt, windowEndAt } = study.request
  return {
    id: study.id,
    createdAt: at,
    updatedAt: at,
    status,
    ...USER,
    feasibilityRequest: {
      constraints,
      windowStartAt,
      windowEndAt,
      imagingMode: 'SPOTLIGHT',
      spotlightConstraints: constraints,
      scanConstraints: null,
    },
    opportunities: status === 'COMPLETED' ? simulator.passes(study).map(passView) : null,
  }
}

const passView = (at: Date) => ({
  windowStartAt: at.toISOString(),
  windowEndAt: new Date(at.getTime() + PASS_LENGTH_MS).toISOString(),
  durationSec: PASS_LENGTH_MS / 1000,
  grazingAngleStartDegrees: 51.2,
  grazingAngleEndDegrees: 54.8,
  targetAzimuthAngleStartDegrees: 80,
  targetAzimuthAngleEndDegrees: 95,
  squintAngleEngineeringDegreesStart: 85,
  squintAngleEngineeringDegreesEnd: 95,
  slantRangeStartKm: 640,
  slantRangeEndKm: 660,
  groundRangeStartKm: 380,
  groundRangeEndKm: 400,
  satelliteId: SATELLITE,
})

function serveTasks(app: FastifyInstance, simulator: UmbraSimulator): void {
  app.post<{ Body: Json }>('/tasking/tasks', async ({ body }, reply) => {
    const constraints = requireTaskable(body)
    const task = simulator.place({
      taskType: 'STANDARD',
      taskName: requireText(body['taskName'], 'taskName'),
      userOrderId: String(body['userOrderId'] ?? ''),
      productTypes: (body['productTypes'] as string[] | undefined) ?? ['GEC'],
      scene: null,
      constraints,
      windowStartAt: String(body['windowStartAt']),
      windowEndAt: String(body['windowEndAt']),
      satelliteIds: (body['satelliteIds'] as string[] | undefined) ?? [],
    })
    if (simulator.take('lostPlacements')) return reply.status(502).send({ detail: 'Bad gateway' })
    return reply.status(201).send(await taskView(simulator, task))
  })
  app.post<{ Body: { items?: Json[] } }>('/tasking/tasks/archive-tasks', async ({ body }, reply) => {
    const items = body.items ?? []
    if (items.length < 1 || items.length > MAX_ITEMS) throw invalid('items', `List should have 1 to ${MAX_ITEMS} items`)
    const results = items.map((item) => orderFromArchive(simulator, item))
    if (simulator.take('lostPlacements')) return reply.status(502).send({ detail: 'Bad gateway' })
    return reply.status(201).send({ results, targetContractId: simulator.contractId })
  })
  app.post<{ Body: Json }>('/tasking/tasks/search', async ({ body }) => {
    const wanted = textFilter(body, 'userOrderId')
    const tasks = simulator.tasks.filter((task) => simulator.faults.ignoresFilters || wanted === null || task.userOrderId === wanted)
    return await listOf(body, tasks, (task) => taskView(simulator, task))
  })
  app.get<{ Params: { id: string } }>('/tasking/tasks/:id', async ({ params }) => await taskView(simulator, simulator.task(params.id)))
  app.patch<{ Params: { id: string } }>('/tasking/tasks/:id/cancel', async ({ params }, reply) => {
    await simulator.cancel(simulator.task(params.id))
    return await (simulator.take('lostCancellations') ? reply.status(502).send({ detail: 'Bad gateway' }) : reply.status(204).send())
  })
}

/** A success names several tasks; the first is the one that was made for this order. */
function orderFromArchive(simulator: UmbraSimulator, item: Json): Json {
  const collectId = requireText(item['collectId'], 'collectId')
  const scene = simulator.sceneOf(collectId)
  if (!scene) return { collectId, status: 'FAILED', message: 'Collect not found in the archive' }
  if (simulator.take('refusedCollects')) return { collectId, status: 'FAILED', message: 'This collect is not for resale' }
  const [longitude, latitude] = [scene.longitude, scene.latitude]
  const task = simulator.place({
    taskType: 'ARCHIVE',
    taskName: String(item['taskName'] ?? 'Archive task'),
    userOrderId: String(item['userOrderId'] ?? ''),
    productTypes: (item['productTypes'] as string[] | undefined) ?? ['GEC'],
    scene,
    constraints: { imagingMode: 'SPOTLIGHT', geometry: { type: 'Point', coordinates: [longitude, latitude] } },
    windowStartAt: scene.datetime,
    windowEndAt: scene.datetime,
    satelliteIds: [],
  })
  return {
    collectId,
    taskId: task.id,
    resellId: randomUUID(),
    resellCollectId: task.collectId,
    resellCollectTaskId: task.id,
    deliveryConfigId: null,
    productTypes: task.productTypes,
    userOrderId: task.userOrderId,
    taskName: task.taskName,
    status: 'SUCCESS',
    message: 'The order was accepted',
  }
}

async function taskView(simulator: UmbraSimulator, task: PlacedTask) {
  const status = await simulator.status(task)
  const at = task.createdAt.toISOString()
  const { windowStartAt, windowEndAt, constraints } = task
  const isScheduled = !['ACTIVE', 'SUBMITTED'].includes(status)
  return {
    id: task.id,
    type: 'Feature',
    geometry: constraints['geometry'],
    properties: {
      createdAt: at,
      updatedAt: at,
      ...USER,
      status,
      statusHistory: [{ status: 'ACTIVE', timestamp: at }],
      collectIds: isScheduled ? [task.collectId] : [],
      userEmail: null,
      contractId: simulator.contractId,
      taskType: task.taskType,
      acceptableWindowStartAt: windowStartAt,
      acceptableWindowEndAt: windowEndAt,
      deliveryConfigId: null,
      productTypes: task.productTypes,
      tags: [],
      taskName: task.taskName,
      userOrderId: task.userOrderId,
      satelliteIds: task.satelliteIds,
      constraints,
      windowStartAt,
      windowEndAt,
      contractSnapshot: null,
      imagingMode: 'SPOTLIGHT',
    },
  }
}

function serveCollects(app: FastifyInstance, simulator: UmbraSimulator): void {
  app.post<{ Body: Json }>('/tasking/collects/search', async ({ body }) => {
    const taskId = textFilter(body, 'taskId')
    const tasks = simulator.tasks.filter(({ id }) => taskId === null || id === taskId)
    return await listOf(body, tasks, async (task) => ({
      type: 'Feature',
      id: task.collectId,
      geometry: task.constraints['geometry'],
      archiveIds: [task.itemId],
      properties: {
        id: task.collectId,
        collectName: `UMBRA_05-${task.windowStartAt}`,
        taskId: task.id,
        satelliteId: SATELLITE,
        status: simulator.faults.collectStatus ?? ((await simulator.isDelivered(task)) ? 'DELIVERED' : 'SCHEDULED'),
        startAt: task.windowStartAt,
        endAt: task.windowEndAt,
        footprintSquareMeters: 25_000_000,
        organizationId: USER.organizationId,
        taskType: task.taskType,
        userOrderId: task.userOrderId,
      },
    }))
  })
}

async function listOf<T>(body: Json, tasks: readonly PlacedTask[], view: (task: PlacedTask) => Promise<T>) {
  const [limit, skip] = [Number(body['limit'] ?? DEFAULT_LIMIT), Number(body['skip'] ?? 0)]
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT) throw invalid('limit', `Input should be from 1 to ${MAX_LIMIT}`)
  const features = await Promise.all(tasks.slice(skip, skip + limit).map(view))
  return { type: 'FeatureCollection', features, context: { limit, matched: tasks.length, returned: features.length } }
}

/** The value of an `eq` filter; null without one. */
function textFilter({ query }: Json, name: string): string | null {
  const filter = (query as Record<string, { eq?: string } | undefined> | undefined)?.[name]
  return filter?.eq ?? null
}

function requireText(value: unknown, field: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw invalid(field, 'Field required')
}

function requireTaskable({ constraints, windowStartAt, windowEndAt }: Json): Json {
  const wanted = constraints as { imagingMode?: string; geometry?: { type?: string; coordinates?: Position } } | undefined
  if (wanted?.imagingMode !== 'SPOTLIGHT' || wanted.geometry?.type !== 'Point') throw invalid('constraints', 'A point is required')
  if (!(Date.parse(String(windowStartAt)) < Date.parse(String(windowEndAt)))) throw invalid('windowEndAt', 'must be after windowStartAt')
  const [longitude = 0, latitude = 0] = wanted.geometry.coordinates ?? []
  if (longitude > 0 && longitude < 1 && latitude > 0 && latitude < 1) throw invalid('constraints', 'The target is in a restricted area')
  return constraints as Json
}
