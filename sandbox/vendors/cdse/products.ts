/** Items as the Copernicus Data Space has them: STAC 1.1, JPEG 2000 in a store that needs an account, and a preview for everyone. */
import { SENTINEL_BANDS, sentinelProperties, type Product } from '../open-hosts/product.ts'

export const CDSE_PRODUCTS: readonly Product[] = [
  {
    collection: 'sentinel-2-l2a',
    title: 'Sentinel-2 Level-2A',
    sensor: 'sandbox-open',
    files: [],
    idOf: (day, cell) => `S2B_MSIL2A_${day}T103021_N0511_R065_T${cell}_${day}T140012`,
    itemOf: (scene, id, base) => ({
      properties: { ...sentinelProperties(scene), platform: 'sentinel-2b', constellation: 'sentinel-2', 'processing:version': '05.11' },
      assets: {
        ...Object.fromEntries(
          SENTINEL_BANDS.map(([band, name, gsd]) => [
            `${band}_${gsd}m`,
            {
              href: `s3://eodata/Sentinel-2/MSI/L2A/${id}.SAFE/${band}_${gsd}m.jp2`,
              type: 'image/jp2',
              roles: ['data', 'reflectance'],
              gsd,
              bands: [{ name: band, 'eo:common_name': name }],
              alternate: { https: { href: `https://download.dataspace.copernicus.eu/odata/v1/${id}/${band}_${gsd}m.jp2` } },
            },
          ]),
        ),
        thumbnail: { href: `${base}/thumbnails/cdse/${id}.jpg`, type: 'image/jpeg', roles: ['thumbnail', 'overview'] },
      },
    }),
  },
]
