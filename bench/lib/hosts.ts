/** Catalogues of the benches' own: hosts that answer pages of scenes, and the registry that names them. */

/** One page of a host that has so many scenes; the token is where it begins. */
export function pageOf(
  host: string,
  base: string,
  scenes: number,
  { limit = 10, token = '0' }: { limit?: number; token?: string },
): { type: string; features: object[]; links: object[] } {
  const from = Number(token)
  const to = Math.min(scenes, from + limit)
  const features = Array.from({ length: Math.max(0, to - from) }, (_, index) => {
    const west = ((from + index) % 3_000) / 10_000
    const ring = [
      [west, 0],
      [west + 0.1, 0],
      [west + 0.1, 0.1],
      [west, 0.1],
      [west, 0],
    ]
    return {
      type: 'Feature',
      id: `${host}-${from + index}`,
      collection: 'scenes',
      geometry: { type: 'Polygon', coordinates: [ring] },
      bbox: [west, 0, west + 0.1, 0.1],
      properties: { datetime: new Date(Date.UTC(2026, 0, 1) - (from + index) * 60_000).toISOString(), 'eo:cloud_cover': index % 100 },
      assets: { data: { href: `${base}/files/${from + index}.tif`, type: 'image/tiff', roles: ['data'] } },
    }
  })
  const links = to < scenes ? [{ rel: 'next', href: `${base}/search`, method: 'POST', merge: true, body: { token: String(to) } }] : []
  return { type: 'FeatureCollection', features, links }
}

const source = (name: string, address: string) => ({
  id: name,
  hostName: name,
  title: name,
  description: 'A host of the bench',
  enabled: true,
  protocol: 'stac',
  url: `http://${address}/${name}`,
  auth: { kind: 'none' },
  fileHosts: [],
  accessModel: 'open',
  scope: 'global',
  countries: [],
  coverage: [],
  attribution: 'Bench',
  license: 'CC0-1.0',
  provider: 'bench',
  renderStrategy: 'none',
  simulated: false,
  markupPercent: 0,
  collections: [{ id: 'scenes', title: 'Scenes', description: 'Scenes', dataType: 'raster', gsdM: 10, bands: [], publicProvider: null }],
  products: [],
})

/** What SOURCES names: hosts behind one address, each under its name. */
export const registryOf = (names: readonly string[], address: string) => ({
  providers: [{ name: 'bench', title: 'Bench', description: 'Bench', roles: ['HOST'], url: null }],
  licences: [],
  sources: names.map((name) => source(name, address)),
})
