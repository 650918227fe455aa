/** Invented scenes for the catalogue's benches: a seeded mixture of footprints like those of real archives. */

export function random(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}

const FIVE_YEARS_MS = 1825 * 86_400_000
const FIRST_MS = Date.UTC(2021, 0, 1)

interface Scene {
  id: string
  ring: [number, number][]
  datetime: Date
  cloudCover: number
  platform: string
}

/** Half of them over Europe; most about one degree wide, a few much smaller or larger; slightly rotated. */
export function sceneAt(index: number, draw: () => number): Scene {
  const dense = draw() < 0.5
  const [x, y] = dense ? [-10 + draw() * 40, 36 + draw() * 22] : [-180 + draw() * 358, -70 + draw() * 140]
  const kind = draw()
  const width = kind < 0.05 ? 0.05 : kind > 0.995 ? 12 : 0.8 + draw() * 0.4
  const [e, n, slant] = [Math.min(180, x + width), Math.min(85, y + width), width * 0.08]
  const ring: [number, number][] = [
    [x + slant, y],
    [e, y + slant],
    [e - slant, n],
    [x, n - slant],
  ].map(([u, v]) => [Number(u!.toFixed(5)), Number(v!.toFixed(5))])
  return {
    id: `S2_${String(index).padStart(8, '0')}`,
    ring: [...ring, ring[0]!],
    datetime: new Date(FIRST_MS + Math.floor(draw() * FIVE_YEARS_MS)),
    cloudCover: Math.round(draw() * 1000) / 10,
    platform: draw() < 0.5 ? 'sentinel-2a' : 'sentinel-2b',
  }
}

export function toStac(scene: Scene): object {
  const asset = (key: string) =>
    [
      key,
      {
        href: `https://data.example/${scene.id}/${key}.tif`,
        type: 'image/tiff; application=geotiff; profile=cloud-optimized',
        roles: ['data'],
        title: key,
      },
    ] as const
  return {
    type: 'Feature',
    stac_version: '1.0.0',
    stac_extensions: ['https://stac-extensions.github.io/eo/v1.1.0/schema.json'],
    id: scene.id,
    geometry: { type: 'Polygon', coordinates: [scene.ring] },
    properties: {
      datetime: scene.datetime.toISOString(),
      'eo:cloud_cover': scene.cloudCover,
      gsd: 10,
      platform: scene.platform,
      constellation: 'sentinel-2',
      instruments: ['msi'],
      'view:off_nadir': 3.2,
      'proj:epsg': 32_632,
      'processing:level': 'L2A',
    },
    assets: Object.fromEntries([asset('visual'), asset('B04'), asset('B08')]),
    links: [],
  }
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
}
