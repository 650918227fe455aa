/** Scenes as STAC items. */
import type { SceneDescription } from '../scenes/index.ts'
import { ARCHIVE_DAYS, type PriceRow, type SandboxHost } from './hosts.ts'

const STAC_VERSION = '1.0.0'
const EXTENSIONS = [
  'https://stac-extensions.github.io/eo/v1.1.0/schema.json',
  'https://stac-extensions.github.io/view/v1.0.0/schema.json',
  'https://stac-extensions.github.io/projection/v2.0.0/schema.json',
]

export interface StacFeature {
  readonly type: 'Feature'
  readonly id: string
  readonly [member: string]: unknown
}

/** `base` is the URL of the host. */
export function featureOf(host: SandboxHost, base: string, scene: SceneDescription): StacFeature {
  const { id } = scene
  const [product] = Object.keys(host.prices)
  const address = `${base}/${product ? 'scenes' : `collections/${host.name}/items`}/${id}`
  const picture = (kind: string) => ({ href: `${base}/scenes/${id}/${kind}`, type: 'image/png', roles: [kind] })
  return {
    type: 'Feature',
    stac_version: STAC_VERSION,
    stac_extensions: EXTENSIONS,
    id,
    collection: host.name,
    geometry: scene.footprint,
    bbox: scene.bbox,
    properties: { ...propertiesOf(host, scene), ...(product ? { 'vendor:product': product } : {}) },
    links: [
      { rel: 'self', href: address, type: 'application/geo+json' },
      ...(product ? [] : [{ rel: 'collection', href: `${base}/collections/${host.name}`, type: 'application/json' }]),
    ],
    assets: {
      thumbnail: picture('thumbnail'),
      overview: picture('overview'),
      ...(product ? {} : { data: dataAsset(`${base}/files/${id}.tif`, scene) }),
    },
  }
}

/** Image properties that a catalogue scene and a delivered file share. */
export function propertiesOf(host: SandboxHost, scene: SceneDescription): Record<string, unknown> {
  return {
    datetime: scene.datetime,
    created: scene.datetime,
    platform: host.platform,
    constellation: host.name,
    instruments: [scene.sensor],
    gsd: scene.gsdM,
    ...(scene.cloudCover === null ? {} : { 'eo:cloud_cover': scene.cloudCover, 'eo:bands': eoBands(scene) }),
    'view:off_nadir': scene.offNadirDeg,
    'view:sun_azimuth': scene.sunAzimuthDeg,
    'view:sun_elevation': scene.sunElevationDeg,
    'proj:code': `EPSG:${scene.epsg}`,
    'proj:shape': [scene.height, scene.width],
    'proj:transform': [scene.transform[1], 0, scene.transform[0], 0, scene.transform[5], scene.transform[3]],
    simulated: true,
  }
}

const eoBands = ({ bands }: SceneDescription) =>
  bands.map(({ name, wavelengthUm }) => ({ name, ...(wavelengthUm === null ? {} : { center_wavelength: wavelengthUm }) }))

const dataAsset = (href: string, { bands, dataType, nodata, scale }: SceneDescription) => ({
  href,
  type: 'image/tiff; application=geotiff; profile=cloud-optimized',
  roles: ['data'],
  'raster:bands': bands.map(({ name }) => ({ name, data_type: dataType, nodata, scale })),
})

/** The current price per square kilometre of a scene. */
export const centsPerSqKm = (row: PriceRow, acquiredAt: string, now: Date): number =>
  now.getTime() - Date.parse(acquiredAt) > ARCHIVE_DAYS * 86_400_000 ? row.archiveCentsPerSqKm : row.centsPerSqKm
