/** A scene with one file per band as a STAC item. */
const TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'
const RING = [
  [150, -35],
  [152, -35],
  [152, -33],
  [150, -33],
  [150, -35],
]

export const itemAt = (hrefOf: (file: string) => string, files: readonly string[]) => ({
  type: 'Feature',
  stac_version: '1.0.0',
  id: 'scene',
  geometry: { type: 'Polygon', coordinates: [RING] },
  bbox: [150, -35, 152, -33],
  properties: { datetime: '2029-01-01T00:00:00Z' },
  links: [],
  assets: Object.fromEntries(files.map((file) => [file.replace('.tif', ''), { href: hrefOf(file), type: TYPE, roles: ['data'] }])),
})
