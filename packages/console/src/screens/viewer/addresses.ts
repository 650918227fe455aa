/** What other programs are given to show an item: the same addresses as in the guide to maps. */
interface Layer {
  base: string
  itemId: string
  /** An API key, or what stands in its place. */
  key: string
  /** Id of the look; null: the item's own. */
  profile: string | null
  maxzoom: number
}

interface Line {
  name: string
  text: string
}

interface Tool {
  id: string
  name: string
  /** Where it goes. */
  how: string
  lines: readonly Line[]
}

const query = (pairs: readonly (readonly [string, string | null])[]) =>
  pairs.flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`])).join('&')

export function toolsFor({ base, itemId, key, profile, maxzoom }: Layer): readonly Tool[] {
  const id = encodeURIComponent(itemId)
  const look = profile === null ? null : encodeURIComponent(profile)
  const drawn = query([
    ['profile', look],
    ['key', key],
  ])
  const tiles = (template: string) => `${base}/api/v1/items/${id}/tiles/${template}?${drawn}`
  const wmts = `${base}/wmts/${id}?key=${key}`
  const tilejson = `${base}/api/v1/items/${id}/tilejson.json?${drawn}`
  const style = look === null ? '' : `,layer=${id},style=${look}`
  return [
    {
      id: 'qgis',
      name: 'QGIS',
      how: 'Layer → Add Layer → Add WMS/WMTS Layer → New, or XYZ Tiles → New Connection.',
      lines: [
        { name: 'WMTS', text: wmts },
        { name: 'XYZ', text: tiles('{z}/{x}/{y}.png') },
      ],
    },
    {
      id: 'gdal',
      name: 'GDAL',
      how: 'A data source for gdalinfo, gdal_translate, rasterio and whatever else opens what GDAL does.',
      lines: [
        { name: 'Source', text: `WMTS:${wmts}${style}` },
        { name: 'Command', text: `gdal_translate "WMTS:${wmts}${style}" scene.tif` },
      ],
    },
    {
      id: 'maplibre',
      name: 'MapLibre',
      how: 'The address of a source of the type raster.',
      lines: [
        { name: 'TileJSON', text: tilejson },
        {
          name: 'Code',
          text: [
            `map.addSource('scene', { type: 'raster', url: '${tilejson}', tileSize: 256 })`,
            "map.addLayer({ id: 'scene', type: 'raster', source: 'scene' })",
          ].join('\n'),
        },
      ],
    },
    {
      id: 'openlayers',
      name: 'OpenLayers',
      how: 'Capabilities for ol.format.WMTSCapabilities, or tiles by address.',
      lines: [
        { name: 'WMTS', text: wmts },
        { name: 'Code', text: `new ol.source.XYZ({ url: '${tiles('{z}/{x}/{y}.webp')}', maxZoom: ${maxzoom} })` },
      ],
    },
    {
      id: 'leaflet',
      name: 'Leaflet',
      how: 'The template of a tile layer; {r} becomes @2x on dense screens.',
      lines: [
        { name: 'Tiles', text: tiles('{z}/{x}/{y}{r}.webp') },
        { name: 'Code', text: `L.tileLayer('${tiles('{z}/{x}/{y}{r}.webp')}', { maxNativeZoom: ${maxzoom} }).addTo(map)` },
      ],
    },
    {
      id: 'arcgis',
      name: 'ArcGIS',
      how: 'In ArcGIS Pro: Insert → Connections → Server → New WMTS Server. A tile layer takes the second address.',
      lines: [
        { name: 'WMTS', text: `${base}/wmts/${id}/1.0.0/WMTSCapabilities.xml?key=${key}` },
        { name: 'Tiles', text: tiles('{level}/{col}/{row}.png') },
      ],
    },
  ]
}
