import type { call as Call } from '../../api/client.ts'

/** Registers the clearest scene that the open data of this service has, and gives its id back. */
export async function addSample(call: typeof Call, projectId: string): Promise<string> {
  const { vendors } = await call('catalog.vendors.list', {})
  const open = vendors.filter(({ access_model }) => access_model === 'open')
  for (const { host_name } of open) {
    const search = await call('catalog.search', {
      host_name,
      bbox: [137.5, -33.6, 138.5, -32.8],
      query: { cloudCoverage: { LTE: 20 } },
      limit: 5,
    }).catch(() => null)
    const scene = search?.features.find(({ assets }) => Object.keys(assets).length > 0)
    if (!scene) continue
    const { errors } = await call('items.import_stac', {
      project_id: projectId,
      features: { type: 'FeatureCollection', features: [scene] },
    })
    if (errors[0]) throw new Error(errors[0].message)
    return scene.id
  }
  throw new Error('This service has no open data to take a sample from. Upload a GeoTIFF instead.')
}
