/** Scenes as items of Planet's Data API, and the filters of its searches. */
import { sharedArea } from '../library.ts'
import type { AreaGeometry } from '#core/geometry.ts'
import type { SceneDescription } from '../../scenes/index.ts'

/** Item types by the sensor of their scenes; `SkySatCollect` is what tasking takes. */
const TYPES = { 'sandbox-hr': 'PSScene', 'sandbox-vhr': 'SkySatCollect' } as const
const itemTypeOf = ({ sensor }: SceneDescription): string => TYPES[sensor as keyof typeof TYPES]
export const ITEM_TYPES: readonly string[] = [...Object.values(TYPES), 'SkySatScene']

/** The assets of each bundle by item type, of which the first is the image. */
export const BUNDLES: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  PSScene: {
    analytic_8b_sr_udm2: ['ortho_analytic_8b_sr', 'ortho_analytic_8b_xml', 'ortho_udm2'],
    analytic_sr_udm2: ['ortho_analytic_4b_sr', 'ortho_analytic_4b_xml', 'ortho_udm2'],
    visual: ['ortho_visual'],
  },
  SkySatCollect: {
    pansharpened_udm2: ['ortho_pansharpened', 'ortho_pansharpened_udm2'],
    visual: ['ortho_visual'],
  },
}
const assetsOf = (itemType: string): string[] => [...new Set(Object.values(BUNDLES[itemType]!).flat())].toSorted()

interface Bases {
  readonly api: string
  readonly tiles: string
}

export type PlanetItem = ReturnType<typeof itemOf>

export function itemOf(scene: SceneDescription, { api, tiles }: Bases) {
  const itemType = itemTypeOf(scene)
  const isPlanetScope = itemType === 'PSScene'
  const assets = assetsOf(itemType)
  const address = `/data/v1/item-types/${itemType}/items/${scene.id}`
  const cloudy = scene.cloudCover ?? 0
  return {
    _links: {
      _self: `${api}${address}`,
      assets: `${api}${address}/assets/`,
      thumbnail: `${tiles}${address}/thumb`,
    },
    _permissions: assets.map((name) => `assets.${name}:download`),
    assets,
    geometry: scene.footprint,
    id: scene.id,
    properties: {
      acquired: scene.datetime,
      anomalous_pixels: 0,
      clear_percent: Math.round(100 - cloudy),
      cloud_cover: cloudy / 100,
      cloud_percent: Math.round(cloudy),
      ground_control: true,
      gsd: isPlanetScope ? 3.7 : 0.65,
      instrument: isPlanetScope ? 'PSB.SD' : 'SkySat',
      item_type: itemType,
      pixel_resolution: scene.gsdM,
      provider: isPlanetScope ? 'planetscope' : 'skysat',
      published: scene.datetime,
      publishing_stage: 'finalized',
      quality_category: 'standard',
      satellite_id: isPlanetScope ? '24ee' : 'SSC6',
      strip_id: String(scene.seed),
      sun_azimuth: scene.sunAzimuthDeg,
      sun_elevation: scene.sunElevationDeg,
      updated: scene.datetime,
      view_angle: scene.offNadirDeg,
    },
    type: 'Feature',
  }
}

export interface Filter {
  readonly type: string
  readonly field_name?: string
  readonly config: unknown
}

/** Thrown for what the API answers with 400. */
export class InvalidFilter extends Error {}

/** Whether a scene matches a filter tree. */
export function matches(filter: Filter, scene: SceneDescription, item: PlanetItem): boolean {
  const inner = filter.config as readonly Filter[]
  switch (filter.type) {
    case 'AndFilter':
      return inner.every((each) => matches(each, scene, item))
    case 'OrFilter':
      return inner.some((each) => matches(each, scene, item))
    case 'NotFilter':
      return !matches(filter.config as Filter, scene, item)
    case 'GeometryFilter':
      return sharedArea(scene, filter.config as AreaGeometry) !== null
    case 'PermissionFilter':
      return item._permissions.length > 0
    case 'AssetFilter':
      return (filter.config as string[]).some((name) => item.assets.includes(name))
    default:
      return hasValue(filter, item)
  }
}

function hasValue({ type, field_name: name = '', config }: Filter, item: PlanetItem): boolean {
  const value = name === 'id' ? item.id : (item.properties as Record<string, unknown>)[name]
  if (value === undefined) throw new InvalidFilter(`Unknown field ${name}`)
  if (type === 'StringInFilter') return (config as string[]).includes(String(value))
  if (type === 'NumberInFilter') return (config as number[]).includes(Number(value))
  if (type !== 'RangeFilter' && type !== 'DateRangeFilter') throw new InvalidFilter(`Unknown filter ${type}`)
  const number = (each: unknown) => (type === 'DateRangeFilter' ? Date.parse(String(each)) : Number(each))
  const { gt, gte, lt, lte } = config as Record<string, unknown>
  const at = number(value)
  return (
    (gt === undefined || at > number(gt)) &&
    (gte === undefined || at >= number(gte)) &&
    (lt === undefined || at < number(lt)) &&
    (lte === undefined || at <= number(lte))
  )
}

/** What the library can look up, from the filters that all must match. */
export function planOf(filter: Filter): { area: AreaGeometry | null; from: Date | null; to: Date | null; ids: string[] | null } {
  const all = filter.type === 'AndFilter' ? (filter.config as readonly Filter[]) : [filter]
  const of = (type: string, field: string) => all.find((each) => each.type === type && each.field_name === field)?.config
  const dates = (of('DateRangeFilter', 'acquired') ?? {}) as Record<string, string>
  const date = (...names: string[]) => names.flatMap((name) => (dates[name] ? [new Date(dates[name])] : []))[0] ?? null
  return {
    area: (of('GeometryFilter', 'geometry') as AreaGeometry | undefined) ?? null,
    from: date('gte', 'gt'),
    to: date('lte', 'lt'),
    ids: (of('StringInFilter', 'id') as string[] | undefined) ?? null,
  }
}
