/** SkyFi's feasibility checks: passes that are predicted from a day ahead on, and studies that are answered after a while. */
import { randomUUID } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { centreOf } from '#core/area.ts'
import type { Clock } from '#core/clock.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import { DAY_MS } from '#core/time.ts'
import { readWkt } from '#core/wkt.ts'
import { cropOf, describeScene, type SceneDescription, type SensorId } from '../../scenes/index.ts'
import { invalid, Refused } from '../refused.ts'

type Body = Readonly<Record<string, unknown>>

/** US cents per square kilometre; another provider costs more. */
export const TASKING_RATE = 1_200
const OTHER_RATE = 2_500
const MAX_SQ_KM = 500
const VIEW_PX = 512
const VALID_DAYS = 7
const MAX_PASSES = 60
/** Who takes which images. */
const SATELLITES = [
  {
    provider: 'PLANET',
    productType: 'DAY',
    resolution: 'VERY HIGH',
    satname: 'SkySat-C12',
    noradid: '45788',
    rate: TASKING_RATE,
    hour: 10,
  },
  { provider: 'UMBRA', productType: 'SAR', resolution: 'SPOT', satname: 'Umbra-05', noradid: '54879', rate: TASKING_RATE, hour: 4 },
  { provider: 'SATELLOGIC', productType: 'DAY', resolution: 'VERY HIGH', satname: 'NuSat-7', noradid: '45018', rate: OTHER_RATE, hour: 11 },
] as const
const PASS_MS = 10 * 60_000

export interface TaskingFields {
  readonly windowStart: string
  readonly windowEnd: string
  readonly productType: string
  readonly resolution: string
  readonly requiredProvider: string | null
  readonly providerWindowId: string | null
  readonly maxCloudCoveragePercent: number | null
  readonly maxOffNadirAngle: number | null
  readonly sarProductTypes: readonly string[] | null
}

/** The fields of a tasking order that come back in its description. */
export function taskingFields(body: Body): TaskingFields {
  const text = (name: string) => (typeof body[name] === 'string' ? body[name] : null)
  const number = (name: string) => (typeof body[name] === 'number' ? body[name] : null)
  const [windowStart, windowEnd] = [text('windowStart'), text('windowEnd')]
  if (!windowStart || !windowEnd || !(Date.parse(windowStart) < Date.parse(windowEnd)))
    throw invalid('windowEnd', 'windowEnd must be after windowStart')
  const [productType, resolution, requiredProvider] = [text('productType'), text('resolution'), text('requiredProvider')]
  const isSold = SATELLITES.some(
    (each) => each.productType === productType && each.resolution === resolution && each.provider === (requiredProvider ?? each.provider),
  )
  if (!productType || !resolution || !isSold) throw invalid('productType', 'No provider takes such images')
  return {
    windowStart,
    windowEnd,
    productType,
    resolution,
    requiredProvider,
    providerWindowId: text('providerWindowId'),
    maxCloudCoveragePercent: number('maxCloudCoveragePercent'),
    maxOffNadirAngle: number('maxOffNadirAngle'),
    sarProductTypes: (body['sarProductTypes'] as string[] | undefined) ?? null,
  }
}

interface Image {
  readonly id: string
  readonly area: AreaGeometry
  readonly fields: TaskingFields
  readonly sensor: SensorId
  readonly maxPx: number
}

/** The image of a tasking order: true colour, or one band of radar. */
export function imageOf({ id, area, fields, sensor, maxPx }: Image): SceneDescription {
  const [longitude, latitude] = centreOf(area)
  const view = describeScene({ sensor, longitude, latitude, datetime: fields.windowStart, sizePx: VIEW_PX, id: `tasked_${id}` })
  const names = fields.productType === 'SAR' ? ['nir'] : ['red', 'green', 'blue']
  const bands = names.map((name) => view.bands.find((band) => band.name === name)!)
  return { ...cropOf(view, area, { maxPx, isBounded: false }), bands }
}

interface FeasibilityParts {
  readonly clock: Clock
  readonly stepSeconds: number
  readonly faults: { readonly extraCentsPerSqKm: number; readonly studyStatus: string | null; readonly hasNoPasses: boolean }
}

interface Study {
  readonly id: string
  readonly createdAt: Date
  readonly provider: string
  readonly passes: readonly Date[]
}

export function serveFeasibility(app: FastifyInstance, prefix: string, { clock, stepSeconds, faults }: FeasibilityParts): void {
  const studies = new Map<string, Study>()
  app.post<{ Body: Body }>(`${prefix}/feasibility/pass-prediction`, async ({ body }) => {
    const [from, to] = windowIn(body, 'fromDate', 'toDate')
    if (from.getTime() < clock.now().getTime() + DAY_MS) throw invalid('fromDate', 'Must be at least 24 hours in the future')
    const area = areaIn(body)
    const [types, resolutions] = [body['productTypes'], body['resolutions']] as (readonly string[] | undefined)[]
    const wanted = SATELLITES.filter(
      ({ productType, resolution }) => (types?.includes(productType) ?? true) && (resolutions?.includes(resolution) ?? true),
    )
    const passes = faults.hasNoPasses ? [] : wanted.flatMap((satellite) => passesOf(satellite, from, to).map((at) => ({ satellite, at })))
    return { passes: passes.map(({ satellite, at }) => passView(satellite, at, area, faults.extraCentsPerSqKm)) }
  })
  app.post<{ Body: Body }>(`${prefix}/feasibility`, async ({ body }, reply) => {
    const [from, to] = windowIn(body, 'startDate', 'endDate')
    areaIn(body)
    const provider = String(body['requiredProvider'])
    const satellite = SATELLITES.find((each) => each.provider === provider && each.productType === body['productType'])
    if (!satellite || provider === 'SATELLOGIC') throw invalid('requiredProvider', 'Provider must be either PLANET or UMBRA.')
    const study = { id: randomUUID(), createdAt: clock.now(), provider, passes: passesOf(satellite, from, to) }
    studies.set(study.id, study)
    return reply.status(201).send(view(study))
  })
  app.get<{ Params: { feasibility_id: string } }>(`${prefix}/feasibility/:feasibility_id`, async ({ params }) => {
    const study = studies.get(params.feasibility_id)
    if (!study) throw new Refused(404, 'Feasibility not found')
    return view(study)
  })
  /** There is no score at first; then the provider works, and has an answer. */
  const view = ({ id, createdAt, provider, passes }: Study) => {
    const step = Math.floor((clock.now().getTime() - createdAt.getTime()) / 1000 / stepSeconds)
    const status = faults.studyStatus ?? (step < 2 ? 'STARTED' : 'COMPLETE')
    const opportunities = status === 'COMPLETE' && !faults.hasNoPasses ? passes.map((at, index) => opportunityOf(provider, at, index)) : []
    const score = opportunities.length > 0 ? 0.8 : 0
    const providerScores = [{ provider, score, status, reference: id, opportunities }]
    return {
      id,
      validUntil: new Date(createdAt.getTime() + VALID_DAYS * DAY_MS).toISOString(),
      overallScore: step < 1 ? null : { feasibility: score, weatherScore: null, providerScore: { score, providerScores } },
    }
  }
}

/** Planet has IDs of its windows; Umbra's are known by their times. */
const opportunityOf = (provider: string, at: Date, index: number) => ({
  windowStart: at.toISOString(),
  windowEnd: new Date(at.getTime() + PASS_MS).toISOString(),
  satelliteId: provider === 'PLANET' ? 'SkySat-C12' : 'UMBRA_05',
  providerWindowId: provider === 'PLANET' ? `550e8400-e29b-41d4-a716-${String(index).padStart(12, '0')}` : null,
  providerMetadata: {},
})

/** One pass a day. */
function passesOf({ hour }: { readonly hour: number }, from: Date, to: Date): Date[] {
  const first = Date.parse(`${from.toISOString().slice(0, 10)}T00:00:00Z`) + (hour * DAY_MS) / 24
  const days = Math.min(MAX_PASSES, Math.ceil((to.getTime() - first) / DAY_MS) + 1)
  return Array.from({ length: Math.max(0, days) }, (_, day) => new Date(first + day * DAY_MS)).filter((at) => at >= from && at <= to)
}

function passView(satellite: (typeof SATELLITES)[number], at: Date, area: AreaGeometry, extraCents: number) {
  const [lon, lat] = centreOf(area)
  const { provider, productType, resolution, satname, noradid } = satellite
  const cents = satellite.rate + extraCents
  return {
    provider,
    satname,
    satid: satname.toLowerCase(),
    noradid,
    node: 'DESCENDING',
    productType,
    resolution,
    lat,
    lon,
    passDate: at.toISOString(),
    meanT: 0,
    offNadirAngle: -12.5,
    solarElevationAngle: 24,
    minSquareKms: 1,
    maxSquareKms: MAX_SQ_KM,
    priceForOneSquareKm: cents / 100,
    priceForOneSquareKmCents: provider === 'UMBRA' ? null : cents,
    gsdDegMin: 0.5,
    gsdDegMax: 0.7,
  }
}

function areaIn({ aoi }: Body): AreaGeometry {
  const area = typeof aoi === 'string' ? readWkt(aoi) : null
  if (!area) throw invalid('aoi', 'Invalid WKT')
  return area
}

function windowIn(body: Body, start: string, end: string): [from: Date, to: Date] {
  const [from, to] = [new Date(String(body[start])), new Date(String(body[end]))]
  if (!(from < to)) throw invalid(end, `${end} must be after ${start}`)
  return [from, to]
}
