import { RasterError } from '#raster/errors.ts'
import { LIMITS } from '#raster/limits.ts'

/** One `<Item>` of GDAL's metadata tag. */
export interface MetadataItem {
  readonly name: string
  /** Zero-based band, or null for the whole dataset. */
  readonly sample: number | null
  readonly role: string | null
  readonly domain: string | null
  readonly value: string
}

/**
 * Reads GDAL's metadata tag. It is XML in one fixed, flat form, so no general parser is needed:
 * items are found one by one, and everything else is skipped.
 */
export function parseGdalMetadata(xml: string): MetadataItem[] {
  const items: MetadataItem[] = []
  let at = 0
  for (;;) {
    const open = xml.indexOf('<Item', at)
    if (open < 0) return items
    const tagEnd = xml.indexOf('>', open)
    if (tagEnd < 0) return items
    if (xml[tagEnd - 1] === '/') {
      at = tagEnd + 1
      continue
    }
    const close = xml.indexOf('</Item>', tagEnd)
    if (close < 0) return items
    if (items.length === LIMITS.metadataItemCount) throw new RasterError('limit_exceeded', 'The raster has too many metadata items')
    items.push(toItem(xml.slice(open + 5, tagEnd), xml.slice(tagEnd + 1, close)))
    at = close + 7
  }
}

function toItem(attributeText: string, text: string): MetadataItem {
  const attributes = new Map<string, string>()
  for (const [, key, value] of attributeText.matchAll(/([A-Za-z_]{1,32})="([^"]*)"/g)) attributes.set(key ?? '', unescapeXml(value ?? ''))
  const sample = attributes.get('sample')
  return {
    name: attributes.get('name') ?? '',
    sample: sample !== undefined && /^\d{1,5}$/.test(sample) ? Number(sample) : null,
    role: attributes.get('role') ?? null,
    domain: attributes.get('domain') ?? null,
    // GDAL escapes a value and then the document that holds it.
    value: unescapeXml(unescapeXml(text)),
  }
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

function unescapeXml(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g, (whole, decimal, hex, name) => {
    if (name) return ENTITIES[String(name)] ?? whole
    const code = decimal ? Number(decimal) : Number.parseInt(String(hex), 16)
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole
  })
}

/** Writes items in GDAL's form. */
export function formatGdalMetadata(items: readonly MetadataItem[]): string {
  const lines = items.map((item) => {
    const sample = item.sample === null ? '' : ` sample="${item.sample}"`
    const role = item.role === null ? '' : ` role="${escapeXml(item.role)}"`
    const domain = item.domain === null ? '' : ` domain="${escapeXml(item.domain)}"`
    return `  <Item name="${escapeXml(item.name)}"${sample}${role}${domain}>${escapeXml(escapeXml(item.value))}</Item>`
  })
  return `<GDALMetadata>\n${lines.join('\n')}\n</GDALMetadata>\n`
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}
