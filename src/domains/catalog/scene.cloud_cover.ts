import Type from 'typebox'
import { GeoJsonArea } from '#core/geojson-shapes.ts'
import { requireArea } from '#core/geometry.ts'
import { notFound } from '#core/problem.ts'
import { Choice, Closed, Described, Nullable } from '#core/shapes.ts'
import { operation } from '#operation.ts'
import { CLOUD_MASKS, type CloudMask } from '#ports/vendors/source.ts'
import { requireUsable } from './search.lib.ts'
import { EXAMPLE_FEATURE, HostName, SceneId } from './wire.ts'

/** Above this, an overview of the mask is read: a percentage does not need more. */
const MAX_PIXELS = 1024 * 1024
const Percent = Type.Number({ minimum: 0, maximum: 100 })

/**
 * 1 for cloud, 0 for none, and no value where the mask has none. In the scene classification of Sentinel-2, 8 and 9 are clouds of medium
 * and high probability and 10 is cirrus, which are what its cloud cover counts; 0 is no data.
 */
const IS_CLOUD: Readonly<Record<CloudMask['kind'], string>> = { scl: '(b1 == 8) + (b1 == 9) + (b1 == 10) + 0 * (b1 / b1)' }

/** Returns the cloud cover of a scene over an area, from the cloud mask that its source provides. */
export default operation({
  id: 'catalog.scene.cloud_cover',
  scope: 'catalog:read',
  tier: 'read',
  input: Closed({
    host_name: HostName,
    id: SceneId,
    area: Described(GeoJsonArea, 'Area of interest: GeoJSON Polygon or MultiPolygon'),
  }),
  output: Closed(
    {
      area_cloud_cover: Described(
        Nullable(Percent),
        'Cloud cover over the area in percent; null if the source has no cloud mask or no data there',
      ),
      area_data_percent: Described(Nullable(Percent), 'Part of the area with data in percent; null if the source has no cloud mask'),
      scene_cloud_cover: Described(Nullable(Percent), 'Cloud cover of the whole scene as its source states it; null if unknown'),
      mask: Described(
        Nullable(Choice(CLOUD_MASKS)),
        'Kind of cloud mask: `scl` is the scene classification of Sentinel-2; null if there is none',
      ),
    },
    { description: 'Cloud cover over the area and of the whole scene' },
  ),
  example: {
    input: { host_name: 'earth-search', id: 'S2B_56HLH_20260214_0_L2A', area: EXAMPLE_FEATURE.geometry! },
    output: { area_cloud_cover: 12.4, area_data_percent: 100, scene_cloud_cover: 31.8, mask: 'scl' },
  },
}).handle({
  async check(context, { host_name, area }) {
    return { usable: await requireUsable(context, host_name), area: requireArea(area, 'area') }
  },
  async execute({ vendors, raster, signal }, { id }, { usable: { source, accountId }, area }) {
    const scene = await vendors.catalog(source.hostName, accountId).scene(id, { signal })
    if (!scene) throw notFound('scene')
    const known = { scene_cloud_cover: scene.cloudCover }
    const mask = source.collections.find((collection) => collection.id === scene.collection)?.cloudMask ?? null
    const file = mask && Object.hasOwn(scene.assets, mask.asset) ? scene.assets[mask.asset] : undefined
    if (!mask || !file || source.accessModel !== 'open') return { ...known, area_cloud_cover: null, area_data_percent: null, mask: null }
    const options = { geometry: area, expression: IS_CLOUD[mask.kind], maxPixels: MAX_PIXELS, unscale: false, binCount: 1, percentiles: [] }
    const [cloud] = (await raster.statistics({ url: file.href }, options, signal)).bands
    const percent = (share: number) => Math.round(Math.min(1, Math.max(0, share)) * 1_000) / 10
    return {
      ...known,
      area_cloud_cover: cloud?.mean == null ? null : percent(cloud.mean),
      area_data_percent: percent(cloud?.validFraction ?? 0),
      mask: mask.kind,
    }
  },
})
