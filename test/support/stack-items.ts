/** Items by reference: one with one file per band, and others to compare it with. */
import assert from 'node:assert/strict'
import type { Org, World } from './world.ts'

/** The middle of files with the default extent of `bandFile` and about 3 km a side. */
export const CENTRE = { longitude: 150.85589, latitude: -33.79326 }

export const boxAround = (side: number, { longitude, latitude } = CENTRE) => ({
  type: 'Polygon',
  coordinates: [
    [
      [longitude - side, latitude - side],
      [longitude + side, latitude - side],
      [longitude + side, latitude + side],
      [longitude - side, latitude + side],
      [longitude - side, latitude - side],
    ],
  ],
})

export interface StackAsset {
  /** The name of a file at the host, or a URL. */
  file: string
  roles?: string[]
  /** What STAC says of the bands; by default one band with the name of the asset. */
  bands?: object
}

interface Import {
  w: World
  org: Org
  urlOf: (file: string) => string
}

export async function importItem({ w, org, urlOf }: Import, id: string, assets: Record<string, StackAsset>, more: object = {}) {
  const feature = {
    type: 'Feature',
    stac_version: '1.0.0',
    id,
    geometry: boxAround(0.02),
    properties: { datetime: '2029-01-01T00:00:00Z', ...more },
    assets: Object.fromEntries(
      Object.entries(assets).map(([key, { file, roles = ['data', 'reflectance'], bands = { 'eo:bands': [{ name: key }] } }]) => [
        key,
        {
          href: /^https?:/.test(file) ? file : urlOf(file),
          type: 'image/tiff; application=geotiff; profile=cloud-optimized',
          roles,
          ...bands,
        },
      ]),
    ),
  }
  const { created, errors } = await w.ok(org.owner.token, 'items.import_stac', {
    project_id: org.projectId,
    features: { type: 'FeatureCollection', features: [feature] },
  })
  assert.equal(created, 1, JSON.stringify(errors))
  return id
}
