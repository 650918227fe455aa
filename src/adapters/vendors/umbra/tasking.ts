/**
 * New radar images: a square around a place, taken at one pass of a satellite. The study lists the passes, of which the customer accepts
 * one. Umbra has no prices in its API, so that each pass costs what the operator's rate card says.
 */
import { LRUCache } from 'lru-cache'
import { areaBounds, centreOf, clipToConvex } from '#core/area.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { convexHull } from '#core/wkt.ts'
import type { Host } from '#adapters/vendors/host.ts'
import { requireAnswer } from '#adapters/vendors/require-answer.ts'
import { areaFrom } from '#adapters/vendors/shapes.ts'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { VendorOrderRequest } from '#ports/vendors/shop.ts'
import type { Study, TaskingRequest } from '#ports/vendors/tasking.ts'
import { createTask } from './tasks.ts'
import { schemas, type Pass, type Task } from './wire.ts'

/** Passes that one study offers, the earliest. */
const MAX_OPTIONS = 50
/** Restricted areas change seldom, and Umbra refuses tasks in them anyway. */
const FRESH_MS = 10 * 60_000
const SCENE_KM: Readonly<Record<string, number>> = { '4x4_KM': 4, '5x5_KM': 5, '10x10_KM': 10 }
const DEFAULT_SCENE = '5x5_KM'
const KM_PER_DEGREE = 111.32
const RESTRICTED = 'does not task this area for your account: it is restricted'

type Params = TaskingRequest['params']
type Area = TaskingRequest['area']

/** Why an area cannot be one image; null if it can. */
export function tooWide(area: AreaGeometry, params: Params): string | null {
  const scene = String(params['sceneSize'] ?? DEFAULT_SCENE)
  const sideKm = SCENE_KM[scene]
  if (sideKm === undefined) return `has no scene size '${scene}'`
  const [west, south, east, north] = areaBounds(area)
  const height = (north - south) * KM_PER_DEGREE
  const width = (east - west) * KM_PER_DEGREE * Math.cos((((south + north) / 2) * Math.PI) / 180)
  if (Math.max(width, height) <= sideKm) return null
  const size = `${width.toFixed(1)} × ${height.toFixed(1)} km`
  return `takes images of ${sideKm} × ${sideKm} km around the centre of an area; this one is ${size}`
}

/** The vendor's names of our parameters. What is not set is the vendor's default. */
const CONSTRAINTS: Readonly<Record<string, string>> = {
  rangeResolution: 'rangeResolutionMinMeters',
  looks: 'multilookFactor',
  minGrazingAngle: 'grazingAngleMinDegrees',
  maxGrazingAngle: 'grazingAngleMaxDegrees',
  polarization: 'polarization',
}

function constraintsOf(area: Area, params: Params): object {
  const set = Object.entries(CONSTRAINTS).flatMap(([ours, theirs]) => (params[ours] == null ? [] : [[theirs, params[ours]] as const]))
  return {
    imagingMode: 'SPOTLIGHT',
    geometry: { type: 'Point', coordinates: area.type === 'Point' ? area.coordinates : centreOf(area) },
    sceneSize: params['sceneSize'] ?? DEFAULT_SCENE,
    ...Object.fromEntries(set),
  }
}

/** What we must know when Umbra has answered, in the ID of the study: `id` is Umbra's, null if it was not asked. */
interface Asked {
  readonly id: string | null
  readonly reference: string
  readonly cents: number | null
  readonly reason: string | null
}

export class UmbraTasking {
  readonly #host: Host
  readonly #areas = new LRUCache<string, readonly AreaGeometry[]>({ max: 1, ttl: FRESH_MS })

  constructor(host: Host) {
    this.#host = host
  }

  /** A study costs nothing, so that one whose response was lost is requested again. `cents`: of an image; null: by contract. */
  async requestStudy({ reference, area, params }: TaskingRequest, cents: number | null, options: CallOptions): Promise<Study> {
    const asked = { id: null, reference, cents, reason: null }
    if (area.type !== 'Point' && (await this.isRestricted(area, options)))
      return await this.study(JSON.stringify({ ...asked, reason: `${this.#host.name} ${RESTRICTED}` }), options)
    const body = {
      constraints: constraintsOf(area, params),
      windowStartAt: new Date(String(params['acquisitionStart'])).toISOString(),
      windowEndAt: new Date(String(params['acquisitionEnd'])).toISOString(),
    }
    const request = { service: 'tasking', method: 'POST' as const, path: '/feasibilities', body, isRepeatable: true, ...options }
    try {
      const { id } = await requireAnswer(this.#host, schemas.feasibility, request, 'study')
      return await this.study(JSON.stringify({ ...asked, id }), options)
    } catch (error) {
      if (!(error instanceof VendorError) || error.code !== 'refused') throw error
      return await this.study(JSON.stringify({ ...asked, reason: error.message.slice(0, 300) }), options)
    }
  }

  async study(studyId: string, options: CallOptions): Promise<Study> {
    const { id, reference, cents, reason } = JSON.parse(studyId) as Asked
    const answer = { id: studyId, reference, reason, options: [] }
    if (id === null) return { ...answer, status: 'infeasible' }
    const path = `/feasibilities/${encodeURIComponent(id)}`
    const { status, opportunities } = await requireAnswer(
      this.#host,
      schemas.feasibility,
      { service: 'tasking', path, ...options },
      'study',
    )
    if (status === 'ERROR') return { ...answer, status: 'infeasible', reason: 'Umbra cannot study this request' }
    if (status !== 'COMPLETED') return { ...answer, status: 'waiting' }
    const passes = (opportunities ?? []).toSorted((a, b) => Date.parse(a.windowStartAt) - Date.parse(b.windowStartAt))
    if (passes.length === 0) return { ...answer, status: 'infeasible', reason: 'No satellite of Umbra passes as requested in this window' }
    return { ...answer, status: 'answered', options: passes.slice(0, MAX_OPTIONS).map((pass) => optionOf(pass, cents)) }
  }

  /** Tasks the accepted pass, and no other. */
  async place({ reference, area, params = {}, studyOptionId }: VendorOrderRequest, options: CallOptions): Promise<Task> {
    const [satellite = '', windowStartAt, windowEndAt] = studyOptionId?.split(SEPARATOR) ?? []
    if (!area || !windowStartAt || !windowEndAt)
      throw new VendorError('refused', this.#host.name, `${this.#host.name} tasks only a pass of a study`)
    if (await this.isRestricted(area, options)) throw new VendorError('refused', this.#host.name, `${this.#host.name} ${RESTRICTED}`)
    const task = {
      reference,
      name: `Groundtrack ${reference}`,
      constraints: constraintsOf(area, params),
      windowStartAt,
      windowEndAt,
      satelliteIds: satellite === '' ? [] : [satellite],
    }
    return await createTask(this.#host, task, options)
  }

  /** Whether a part of the area is one that Umbra must not image for this account. */
  async isRestricted(area: AreaGeometry, options: CallOptions): Promise<boolean> {
    const hull = convexHull(area)
    return (await this.#restricted(options)).some((restricted) => clipToConvex(restricted, hull) !== null)
  }

  async #restricted(options: CallOptions): Promise<readonly AreaGeometry[]> {
    const known = this.#areas.get('all')
    if (known) return known
    const request = { service: 'tasking', path: '/restricted-access-areas', ...options }
    const { features } = await requireAnswer(this.#host, schemas.areas, request, 'list of restricted areas')
    // Umbra itself refuses what lies in an area that we cannot read.
    const areas = features.flatMap(({ geometry }) => areaFrom(geometry) ?? [])
    this.#areas.set('all', areas)
    return areas
  }
}

/** The ID of an option says which pass it is: Umbra keeps no IDs of passes. */
const SEPARATOR = '|'

function optionOf(pass: Pass, cents: number | null): Study['options'][number] {
  const { satelliteId = '', windowStartAt, windowEndAt, grazingAngleStartDegrees: from, grazingAngleEndDegrees: to } = pass
  const [start, end] = [windowStartAt, windowEndAt].map((time) => new Date(time).toISOString()) as [string, string]
  return {
    id: [satelliteId, start, end].join(SEPARATOR),
    description: `${satelliteId || 'Umbra'}, grazing angle ${from.toFixed(0)}° to ${to.toFixed(0)}°`,
    cents,
    acquisitionStart: start,
    acquisitionEnd: end,
    maxCloudCover: null,
    maxOffNadirDeg: null,
  }
}
