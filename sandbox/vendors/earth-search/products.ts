/** Items as Earth Search v1 has them: one COG for each band, and requester-pays twins that nobody can open without an account. */
import type { SceneDescription } from '../../scenes/index.ts'
import {
  COG_TYPE,
  gridOf,
  SENTINEL_BANDS,
  SENTINEL_LICENSE_URL,
  sentinelProperties,
  type Product,
  type ProductFile,
} from '../open-hosts/product.ts'

const SENTINEL_GSD_M = 10

const SENTINEL_FILES: readonly ProductFile[] = [
  ...SENTINEL_BANDS.map(([band, name, gsd]) => ({ key: name, name: `${band}.tif`, bands: [name], factor: gsd / SENTINEL_GSD_M })),
  { key: 'visual', name: 'TCI.tif', bands: ['red', 'green', 'blue'], isVisual: true },
  { key: 'scl', name: 'SCL.tif', bands: [], factor: 2, isMask: true },
]

const eoBand = (name: string) => {
  const [, , , wavelength] = SENTINEL_BANDS.find(([, commonName]) => commonName === name)!
  return { name, common_name: name, center_wavelength: wavelength }
}

/** The offset is stated although it is in the pixels already: `earthsearch:boa_offset_applied` says so. */
const rasterBand = (gsd: number) => ({
  nodata: 0,
  data_type: 'uint16',
  bits_per_sample: 15,
  spatial_resolution: gsd,
  scale: 0.0001,
  offset: -0.1,
})

function sentinelAssets(scene: SceneDescription, folder: string, thumbnail: string): Record<string, object> {
  const bands = SENTINEL_BANDS.map(([band, name, gsd]) => [
    name,
    {
      href: `${folder}/${band}.tif`,
      type: COG_TYPE,
      title: `${name} - ${gsd}m`,
      'eo:bands': [eoBand(name)],
      gsd,
      ...gridOf(scene, gsd / SENTINEL_GSD_M),
      'raster:bands': [rasterBand(gsd)],
      roles: ['data', 'reflectance'],
    },
  ])
  return {
    ...Object.fromEntries(bands),
    visual: {
      href: `${folder}/TCI.tif`,
      type: COG_TYPE,
      title: 'True color image',
      'eo:bands': ['red', 'green', 'blue'].map(eoBand),
      ...gridOf(scene),
      roles: ['visual'],
    },
    scl: {
      href: `${folder}/SCL.tif`,
      type: COG_TYPE,
      title: 'Scene classification map (SCL)',
      ...gridOf(scene, 2),
      'raster:bands': [{ nodata: 0, data_type: 'uint8', spatial_resolution: 2 * SENTINEL_GSD_M }],
      roles: ['data'],
    },
    thumbnail: { href: thumbnail, type: 'image/jpeg', title: 'Thumbnail of preview image', roles: ['thumbnail'] },
  }
}

const sentinel = (collection: string, title: string, bucket: string, idOf: Product['idOf'], hasTwins: boolean): Product => ({
  collection,
  title,
  sensor: 'sandbox-open',
  files: SENTINEL_FILES,
  licenseUrl: SENTINEL_LICENSE_URL,
  idOf,
  itemOf(scene, id, base) {
    const twin = (band: string) => ({
      href: `s3://sentinel-s2-l2a/tiles/${id}/${band}.jp2`,
      type: 'image/jp2',
      roles: ['data', 'reflectance'],
    })
    const twins = SENTINEL_BANDS.map(([band, name]) => [`${name}-jp2`, twin(band)])
    return {
      properties: {
        ...sentinelProperties(scene),
        platform: 'sentinel-2b',
        constellation: 'sentinel-2',
        's2:processing_baseline': '05.11',
        'earthsearch:boa_offset_applied': true,
      },
      assets: {
        ...sentinelAssets(scene, `${base}/buckets/${bucket}/${id}`, `${base}/thumbnails/${bucket}/${id}.jpg`),
        ...(hasTwins ? Object.fromEntries(twins) : {}),
      },
    }
  },
})

export const EARTH_SEARCH_BUCKETS: Readonly<Record<string, Product>> = {
  'sentinel-cogs': sentinel('sentinel-2-l2a', 'Sentinel-2 Level-2A', 'sentinel-cogs', (day, cell) => `S2B_${cell}_${day}_0_L2A`, true),
  'e84-earth-search-sentinel-data': sentinel(
    'sentinel-2-c1-l2a',
    'Sentinel-2 Collection 1 Level-2A',
    'e84-earth-search-sentinel-data',
    (day, cell) => `S2B_T${cell}_${day}T103021_L2A`,
    false,
  ),
  'copernicus-dem-30m': {
    collection: 'cop-dem-glo-30',
    title: 'Copernicus DEM GLO-30',
    sensor: 'sandbox-dem',
    files: [{ key: 'data', name: 'DEM.tif', bands: ['elevation'] }],
    idOf: (day, cell) => `Copernicus_DSM_COG_10_${cell}_${day}_DEM`,
    itemOf: (scene, id) => ({
      properties: { datetime: scene.datetime, gsd: 30, 'proj:epsg': scene.epsg },
      assets: {
        data: {
          href: `s3://copernicus-dem-30m/${id}/DEM.tif`,
          type: COG_TYPE,
          roles: ['data'],
          'raster:bands': [{ data_type: 'float32' }],
        },
      },
    }),
  },
}
