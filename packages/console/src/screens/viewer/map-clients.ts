/** The URLs and code that other map clients need to show an item: the same as in the guide to maps. */
interface LayerUrl {
  base: string
  itemId: string
  /** An API key, or its placeholder. */
  key: string
  /** Id of the style; null for the default style of the item. */
  profile: string | null
  maxzoom: number
}

interface Snippet {
  name: string
  text: string
}

interface MapClient {
  id: string
  name: string
  /** Where the snippets go. */
  instructions: string
  snippets: readonly Snippet[]
}

const query = (pairs: readonly (readonly [string, string | null])[]) =>
  pairs.flatMap(([name, value]) => (value === null ? [] : [`${name}=${value}`])).join('&')

export function mapClientsFor({ base, itemId, key, profile, maxzoom }: LayerUrl): readonly MapClient[] {
  const id = encodeURIComponent(itemId)
  const style = profile === null ? null : encodeURIComponent(profile)
  const styleAndKey = query([
    ['profile', style],
    ['key', key],
  ])
  const tiles = (template: string) => `${base}/api/v1/items/${id}/tiles/${template}?${styleAndKey}`
  const wmts = `${base}/wmts/${id}?key=${key}`
  const tilejson = `${base}/api/v1/items/${id}/tilejson.json?${styleAndKey}`
  const wmtsSource = `WMTS:${wmts}${style === null ? '' : `,layer=${id},style=${style}`}`
  return [
    {
      id: 'qgis',
      name: 'QGIS',
      instructions: 'Layer → Add Layer → Add WMS/WMTS Layer → New, or XYZ Tiles → New Connection.',
      snippets: [
        { name: 'WMTS', text: wmts },
        { name: 'XYZ', text: tiles('{z}/{x}/{y}.png') },
      ],
    },
    {
      id: 'gdal',
      name: 'GDAL',
      instructions: 'A dataset name for gdalinfo, gdal_translate, rasterio and other programs that use GDAL.',
      snippets: [
        { name: 'Source', text: wmtsSource },
        { name: 'Command', text: `gdal_translate "${wmtsSource}" scene.tif` },
      ],
    },
    {
      id: 'maplibre',
      name: 'MapLibre',
      instructions: 'The URL of a raster source.',
      snippets: [
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
      instructions: 'Capabilities for ol.format.WMTSCapabilities, or an XYZ source.',
      snippets: [
        { name: 'WMTS', text: wmts },
        { name: 'Code', text: `new ol.source.XYZ({ url: '${tiles('{z}/{x}/{y}.webp')}', maxZoom: ${maxzoom} })` },
      ],
    },
    {
      id: 'leaflet',
      name: 'Leaflet',
      instructions: 'The URL template of a tile layer. {r} becomes @2x on high-density screens.',
      snippets: [
        { name: 'Tiles', text: tiles('{z}/{x}/{y}{r}.webp') },
        { name: 'Code', text: `L.tileLayer('${tiles('{z}/{x}/{y}{r}.webp')}', { maxNativeZoom: ${maxzoom} }).addTo(map)` },
      ],
    },
    {
      id: 'arcgis',
      name: 'ArcGIS',
      instructions: 'In ArcGIS Pro: Insert → Connections → Server → New WMTS Server. A tile layer takes the second URL.',
      snippets: [
        { name: 'WMTS', text: `${base}/wmts/${id}/1.0.0/WMTSCapabilities.xml?key=${key}` },
        { name: 'Tiles', text: tiles('{level}/{col}/{row}.png') },
      ],
    },
  ]
}
