/** Items as the Planetary Computer has them: files in Azure storage that can only be read with a token, and stated sparsely. */
import type { SceneDescription } from '../../scenes/index.ts'
import { COG_TYPE, gridOf, SENTINEL_BANDS, sentinelProperties, type Product } from '../open-hosts/product.ts'

const SENTINEL_GSD_M = 10
/** Since processing baseline 04.00; no item states it. */
const SENTINEL_OFFSET = 1_000
const [LANDSAT_SCALE, LANDSAT_OFFSET] = [2.75e-5, -0.2]
const SANDBOX_SCALE = 0.0001

/** Common names as this host has them: the narrow near infrared is a red edge here. */
const commonName = (name: string): string => (name === 'nir08' ? 'rededge' : name.replace(/^rededge\d$/, 'rededge'))

const rendered = (base: string, collection: string, id: string) => ({
  href: `${base}/planetary-computer/api/data/v1/item/preview.png?collection=${collection}&item=${id}`,
  type: 'image/png',
  title: 'Rendered preview',
  roles: ['overview'],
})

/** Landsat bands: asset key, band of the sandbox sensor, name at the instrument. */
const LANDSAT_BANDS = [
  ['coastal', 'coastal', 'OLI_B1'],
  ['blue', 'blue', 'OLI_B2'],
  ['green', 'green', 'OLI_B3'],
  ['red', 'red', 'OLI_B4'],
  ['nir08', 'nir', 'OLI_B5'],
  ['swir16', 'swir16', 'OLI_B6'],
  ['swir22', 'swir22', 'OLI_B7'],
] as const

function sentinelAssets(scene: SceneDescription, folder: string): Record<string, object> {
  const bands = SENTINEL_BANDS.map(([band, name, gsd]) => [
    band,
    {
      href: `${folder}/${band}.tif`,
      type: COG_TYPE,
      title: `Band ${band} - ${gsd}m`,
      'eo:bands': [{ name: band, common_name: commonName(name) }],
      gsd,
      ...gridOf(scene, gsd / SENTINEL_GSD_M),
      roles: ['data'],
    },
  ])
  const visual = {
    href: `${folder}/visual.tif`,
    type: COG_TYPE,
    'eo:bands': ['B04', 'B03', 'B02'].map((name) => ({ name })),
    ...gridOf(scene),
    roles: ['data'],
  }
  const preview = { href: `${folder}/preview.tif`, type: COG_TYPE, roles: ['thumbnail'] }
  return { ...Object.fromEntries(bands), visual, preview }
}

/** By storage account and container. */
export const CONTAINERS: Readonly<Record<string, Product>> = {
  'sentinel2l2a01/sentinel2-l2': {
    collection: 'sentinel-2-l2a',
    title: 'Sentinel-2 Level-2A',
    sensor: 'sandbox-open',
    files: [
      ...SENTINEL_BANDS.map(([band, name, gsd]) => ({
        key: band,
        name: `${band}.tif`,
        bands: [name],
        factor: gsd / SENTINEL_GSD_M,
        store: (sample: number) => sample + SENTINEL_OFFSET,
      })),
      { key: 'visual', name: 'visual.tif', bands: ['red', 'green', 'blue'], isVisual: true },
    ],
    idOf: (day, cell) => `S2B_MSIL2A_${day}T103021_R065_T${cell}_${day}T140012`,
    itemOf: (scene, id, base) => ({
      properties: {
        ...sentinelProperties(scene),
        platform: 'Sentinel-2B',
        constellation: 'Sentinel 2',
        's2:processing_baseline': '05.11',
      },
      assets: {
        ...sentinelAssets(scene, `${base}/sentinel2l2a01/sentinel2-l2/${id}`),
        rendered_preview: rendered(base, 'sentinel-2-l2a', id),
      },
    }),
  },
  'landsateuwest/landsat-c2': {
    collection: 'landsat-c2-l2',
    title: 'Landsat Collection 2 Level-2',
    sensor: 'sandbox-landsat',
    files: LANDSAT_BANDS.map(([key, band]) => ({
      key,
      name: `${key}.tif`,
      bands: [band],
      store: (sample: number) => Math.round((sample * SANDBOX_SCALE - LANDSAT_OFFSET) / LANDSAT_SCALE),
    })),
    idOf: (day, cell) => `LC09_L2SP_${cell}_${day}_02_T1`,
    itemOf: (scene, id, base) => ({
      properties: {
        datetime: scene.datetime,
        platform: 'landsat-9',
        instruments: ['oli', 'tirs'],
        'eo:cloud_cover': scene.cloudCover,
        'proj:epsg': scene.epsg,
      },
      assets: {
        ...Object.fromEntries(
          LANDSAT_BANDS.map(([key, , name]) => [
            key,
            {
              href: `${base}/landsateuwest/landsat-c2/${id}/${key}.tif`,
              type: COG_TYPE,
              'eo:bands': [{ name, common_name: key }],
              'raster:bands': [
                { nodata: 0, data_type: 'uint16', spatial_resolution: 30, scale: LANDSAT_SCALE, offset: LANDSAT_OFFSET, unit: '1' },
              ],
              ...gridOf(scene),
              roles: ['data', 'reflectance'],
            },
          ]),
        ),
        rendered_preview: rendered(base, 'landsat-c2-l2', id),
      },
    }),
  },
  'naipeuwest/naip': {
    collection: 'naip',
    title: 'NAIP',
    sensor: 'sandbox-naip',
    files: [{ key: 'image', name: 'image.tif', bands: ['red', 'green', 'blue', 'nir'] }],
    idOf: (day, cell) => `ca_m_${cell}_60_${day}`,
    itemOf: (scene, id, base) => ({
      properties: { datetime: scene.datetime, gsd: 0.6, 'proj:epsg': scene.epsg },
      assets: {
        image: {
          href: `${base}/naipeuwest/naip/${id}/image.tif`,
          type: COG_TYPE,
          'eo:bands': ['Red', 'Green', 'Blue', 'NIR'].map((name) => ({ name, common_name: name.toLowerCase() })),
          roles: ['data'],
        },
        rendered_preview: rendered(base, 'naip', id),
      },
    }),
  },
  'elevationeuwest/copernicus-dem': {
    collection: 'cop-dem-glo-30',
    title: 'Copernicus DEM GLO-30',
    sensor: 'sandbox-dem',
    files: [{ key: 'data', name: 'data.tif', bands: ['elevation'] }],
    idOf: (day, cell) => `Copernicus_DSM_COG_10_${cell}_${day}_DEM`,
    itemOf: (scene, id, base) => ({
      properties: { datetime: scene.datetime, gsd: 30, 'proj:epsg': scene.epsg },
      assets: { data: { href: `${base}/elevationeuwest/copernicus-dem/${id}/data.tif`, type: COG_TYPE, roles: ['data'] } },
    }),
  },
}
