/** The WMTS 1.0.0 capabilities document of one item (OGC 07-057r7). */
import { isUuid } from '#core/ids.ts'
import { gridName, IMAGE_SET, TILE_PX, WELL_KNOWN_SET, WMTS_FORMATS, WMTS_INFO_FORMATS } from '#wire/wmts.ts'
import { escapeXml } from '#wire/xml.ts'
import type { Profile } from '#model/imagery/visualization-profile.ts'
import type { Visualization } from '#raster/formulas/visualizations.ts'
import type { Coverage, ImageGrid } from '#raster/warp/coverage.ts'
import { HALF_WORLD_M, toMercator, WORLD_M } from '#raster/warp/mercator.ts'
import { DEFAULT_PROFILE } from './styled-layer.ts'
import { tileTemplate } from './tilejson.ts'

interface MatrixSet {
  id: string
  title: string
  /** From coarse to fine. */
  matrices: readonly Matrix[]
  scaleSet: string | null
}

interface Matrix {
  id: string
  /** Pixel size in metres. */
  pixelM: number
  left: number
  top: number
  /** In tiles. */
  width: number
  height: number
  /** The tiles that the image touches; null at zooms where it is too small to see or beyond its resolution. */
  limits: { left: number; top: number; right: number; bottom: number } | null
}

const SCALE_SET = 'urn:ogc:def:wkss:OGC:1.0:GoogleMapsCompatible'

interface WmtsStyle {
  id: string
  title: string
  isDefault: boolean
}

/** The derived indices that people look for first; a request can name any other. */
const LISTED_INDICES = ['ndvi', 'ndwi', 'nbr']

export function stylesOf({
  wanted,
  saved,
  derived,
}: {
  wanted: string | null
  saved: readonly Profile[]
  derived: readonly Visualization[]
}): WmtsStyle[] {
  const known = [
    { id: DEFAULT_PROFILE, title: 'Default', isDefault: true },
    ...saved.map(({ id, name }) => ({ id, title: name, isDefault: false })),
    ...derived
      .filter(({ kind, id }) => kind !== 'index' || LISTED_INDICES.includes(id))
      .map(({ id, label }) => ({ id, title: label, isDefault: false })),
  ]
  if (wanted === null) return withUniqueTitles(known)
  return [{ ...(known.find(({ id }) => id === wanted) ?? { id: wanted, title: wanted }), isDefault: true }]
}

/** Some clients identify a style by its title. A derived style that is also saved is listed once; equal names are numbered. */
function withUniqueTitles(styles: readonly WmtsStyle[]): WmtsStyle[] {
  const taken = new Set<string>()
  return styles.flatMap((style) => {
    if (taken.has(style.title) && !isUuid(style.id)) return []
    let title = style.title
    for (let number = 2; taken.has(title); number += 1) title = `${style.title} (${number})`
    taken.add(title)
    return [{ ...style, title }]
  })
}

/** The set that ends at the image's own resolution comes first, because GDAL uses the first set and its last matrix. */
const setsOf = (coverage: Coverage, image: ImageGrid, size: Size): MatrixSet[] => [
  { id: IMAGE_SET.id, title: 'Web Mercator, as many pixels as the image has', matrices: imageMatrices(image, size), scaleSet: null },
  wellKnownSet(coverage),
]

const wellKnownSet = (coverage: Coverage): MatrixSet => ({
  id: WELL_KNOWN_SET.id,
  title: 'Web Mercator, 256 pixels',
  matrices: wellKnownMatrices(coverage),
  scaleSet: SCALE_SET,
})

interface Size {
  width: number
  height: number
}

function imageMatrices({ left, top, pixelM: finest, halvings }: ImageGrid, size: Size): Matrix[] {
  return Array.from({ length: halvings + 1 }, (_, index) => {
    const times = 2 ** (halvings - index)
    const pixelM = finest * times
    const tiles = (pixels: number) => Math.ceil(pixels / times / TILE_PX)
    const [width, height] = [tiles(size.width), tiles(size.height)]
    const limits = { left: 0, top: 0, right: width - 1, bottom: height - 1 }
    return { id: gridName({ left, top, pixel_m: pixelM }), pixelM, left, top, width, height, limits }
  })
}

/** Limits cover only the tiles that the image touches, at zooms between its coarsest useful one and its own resolution. */
function wellKnownMatrices({ bounds, minZoom, maxZoom: finest }: Coverage): Matrix[] {
  const [west, south, east, north] = bounds
  const [left, bottom] = toMercator(west, south)
  const [right, top] = toMercator(east, north)
  return Array.from({ length: WELL_KNOWN_SET.maxZoom + 1 }, (_, zoom) => {
    const count = 2 ** zoom
    const column = (x: number) => Math.max(0, Math.min(count - 1, Math.floor(((x + HALF_WORLD_M) / WORLD_M) * count)))
    const row = (y: number) => Math.max(0, Math.min(count - 1, Math.floor(((HALF_WORLD_M - y) / WORLD_M) * count)))
    const isUseful = zoom >= Math.min(minZoom, WELL_KNOWN_SET.maxZoom) && zoom <= finest
    return {
      id: String(zoom),
      pixelM: WORLD_M / TILE_PX / count,
      left: -HALF_WORLD_M,
      top: HALF_WORLD_M,
      width: count,
      height: count,
      limits: isUseful ? { left: column(left), top: row(top), right: column(right), bottom: row(bottom) } : null,
    }
  })
}

interface Capabilities {
  item: { id: string; name: string; description: string | null }
  coverage: Coverage
  /** The image's own pixels; null for tiles of the well-known set only. */
  image: (ImageGrid & { size: Size }) | null
  styles: readonly WmtsStyle[]
  endpoint: Endpoint
}

/** Where clients find the document and the tiles. */
interface Endpoint {
  document: string
  /** For requests with key-value pairs; null if there are none. */
  pairs: { readonly url: string; readonly operations: readonly string[] } | null
  /** URL template of the tiles in a format. */
  template(format: string): string
}

export function capabilities(service: Capabilities): string {
  const { item, coverage, image, endpoint } = service
  const sets = image ? setsOf(coverage, image, image.size) : [wellKnownSet(coverage)]
  return `<?xml version="1.0" encoding="UTF-8"?>
<Capabilities xmlns="http://www.opengis.net/wmts/1.0" xmlns:ows="http://www.opengis.net/ows/1.1" \
xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.opengis.net/wmts/1.0 http://schemas.opengis.net/wmts/1.0/wmtsGetCapabilities_response.xsd" version="1.0.0">
  <ows:ServiceIdentification>
    <ows:Title>${escapeXml(item.name)}</ows:Title>
    <ows:ServiceType>OGC WMTS</ows:ServiceType>
    <ows:ServiceTypeVersion>1.0.0</ows:ServiceTypeVersion>
  </ows:ServiceIdentification>
${operations(endpoint)}\
  <Contents>
${layerOf(service, sets)}
${sets.map(matrixSet).join('\n')}
  </Contents>
  <ServiceMetadataURL xlink:href="${escapeXml(endpoint.document)}"/>
</Capabilities>
`
}

interface ItemEndpoint {
  baseUrl: string
  itemId: string
  assetKey: string | null
  key: string | null
  /** Of tiles in one style. */
  signature: string | null
}

const OPERATIONS = ['GetCapabilities', 'GetTile', 'GetFeatureInfo'] as const

/** The WMTS endpoint of an item, with the parameters that every request must repeat. A signature opens tiles and nothing else. */
export function itemEndpoint({ baseUrl, itemId, assetKey, key, signature }: ItemEndpoint): Endpoint {
  const url = (path: string, parameters: Readonly<Record<string, string | null>>): string => {
    const query = Object.entries(parameters).flatMap(([name, value]) => (value === null ? [] : [`${name}=${encodeURIComponent(value)}`]))
    return `${baseUrl}/wmts/${encodeURIComponent(itemId)}${path}${query.length > 0 ? `?${query.join('&')}` : ''}`
  }
  return {
    document: url('/1.0.0/WMTSCapabilities.xml', { asset_key: assetKey, key }),
    pairs: { url: url('', { asset_key: assetKey, key, signature }), operations: signature === null ? OPERATIONS : ['GetTile'] },
    template: (format) =>
      tileTemplate({
        baseUrl,
        of: { kind: 'items', id: itemId },
        format,
        place: WMTS_PLACE,
        parameters: { profile: '{Style}', asset_key: assetKey, key, signature },
      }),
  }
}

/** Placeholders for zoom, column and row in a template. */
export const WMTS_PLACE = '{TileMatrix}/{TileCol}/{TileRow}'

function operations({ pairs }: Endpoint): string {
  if (pairs === null) return ''
  return `  <ows:OperationsMetadata>${pairs.operations.map((name) => operation(name, pairs.url)).join('')}
  </ows:OperationsMetadata>
`
}

function operation(name: string, url: string): string {
  return `
    <ows:Operation name="${name}">
      <ows:DCP><ows:HTTP><ows:Get xlink:href="${escapeXml(`${url}${url.includes('?') ? '&' : '?'}`)}">\
<ows:Constraint name="GetEncoding"><ows:AllowedValues><ows:Value>KVP</ows:Value></ows:AllowedValues></ows:Constraint>\
</ows:Get></ows:HTTP></ows:DCP>
    </ows:Operation>`
}

function layerOf(service: Capabilities, sets: readonly MatrixSet[]): string {
  const { item, coverage, styles, endpoint } = service
  const [west, south, east, north] = coverage.bounds
  const { left, top, right, bottom } = extentOf(service)
  const infoFormats = endpoint.pairs?.operations.includes('GetFeatureInfo') ? WMTS_INFO_FORMATS : []
  return `    <Layer>
      <ows:Title>${escapeXml(item.name)}</ows:Title>${
        item.description === null
          ? ''
          : `
      <ows:Abstract>${escapeXml(item.description)}</ows:Abstract>`
      }
      <ows:WGS84BoundingBox><ows:LowerCorner>${west} ${south}</ows:LowerCorner>\
<ows:UpperCorner>${east} ${north}</ows:UpperCorner></ows:WGS84BoundingBox>
      <ows:Identifier>${escapeXml(item.id)}</ows:Identifier>
      <ows:BoundingBox crs="urn:ogc:def:crs:EPSG::3857"><ows:LowerCorner>${left} ${bottom}</ows:LowerCorner>\
<ows:UpperCorner>${right} ${top}</ows:UpperCorner></ows:BoundingBox>
${styles.map(styleElement).join('\n')}
${WMTS_FORMATS.map((format) => `      <Format>image/${format}</Format>`).join('\n')}
${infoFormats.map((format) => `      <InfoFormat>${format}</InfoFormat>\n`).join('')}\
${sets.map(matrixSetLink).join('\n')}
${WMTS_FORMATS.map((format) => resourceUrl(format, endpoint.template(format))).join('\n')}
    </Layer>`
}

/** In metres of Web Mercator. */
function extentOf({ coverage, image }: Capabilities): { left: number; top: number; right: number; bottom: number } {
  if (image) {
    const { left, top, pixelM, size } = image
    return { left, top, right: left + size.width * pixelM, bottom: top - size.height * pixelM }
  }
  const [west, south, east, north] = coverage.bounds
  const [left, bottom] = toMercator(west, south)
  const [right, top] = toMercator(east, north)
  return { left, top, right, bottom }
}

const styleElement = ({ id, title, isDefault }: WmtsStyle) =>
  `      <Style${isDefault ? ' isDefault="true"' : ''}><ows:Title>${escapeXml(title)}</ows:Title>` +
  `<ows:Identifier>${escapeXml(id)}</ows:Identifier></Style>`

const resourceUrl = (format: string, template: string) =>
  `      <ResourceURL format="image/${format}" resourceType="tile" template="${escapeXml(template)}"/>`

function matrixSetLink({ id, matrices }: MatrixSet): string {
  const limits = matrices.flatMap(({ id: matrix, limits: tiles }) =>
    tiles
      ? [
          `          <TileMatrixLimits><TileMatrix>${matrix}</TileMatrix>` +
            `<MinTileRow>${tiles.top}</MinTileRow><MaxTileRow>${tiles.bottom}</MaxTileRow>` +
            `<MinTileCol>${tiles.left}</MinTileCol><MaxTileCol>${tiles.right}</MaxTileCol></TileMatrixLimits>`,
        ]
      : [],
  )
  return `      <TileMatrixSetLink>
        <TileMatrixSet>${id}</TileMatrixSet>
        <TileMatrixSetLimits>
${limits.join('\n')}
        </TileMatrixSetLimits>
      </TileMatrixSetLink>`
}

/** The standardized rendering pixel size of the OGC, in metres. */
const SCREEN_PIXEL_M = 0.000_28

const matrixElement = ({ id, pixelM, left, top, width, height }: Matrix) =>
  `      <TileMatrix><ows:Identifier>${id}</ows:Identifier><ScaleDenominator>${pixelM / SCREEN_PIXEL_M}</ScaleDenominator>` +
  `<TopLeftCorner>${left} ${top}</TopLeftCorner><TileWidth>${TILE_PX}</TileWidth><TileHeight>${TILE_PX}</TileHeight>` +
  `<MatrixWidth>${width}</MatrixWidth><MatrixHeight>${height}</MatrixHeight></TileMatrix>`

function matrixSet({ id, title, matrices, scaleSet }: MatrixSet): string {
  return `    <TileMatrixSet>
      <ows:Title>${title}</ows:Title>
      <ows:Identifier>${id}</ows:Identifier>
      <ows:SupportedCRS>urn:ogc:def:crs:EPSG::3857</ows:SupportedCRS>\
${scaleSet ? `\n      <WellKnownScaleSet>${scaleSet}</WellKnownScaleSet>` : ''}
${matrices.map(matrixElement).join('\n')}
    </TileMatrixSet>`
}
