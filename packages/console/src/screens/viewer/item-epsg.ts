/** The coordinate reference system that the item or its first raster states; null if none does. */
export function epsgOf(stac: unknown): number | null {
  const { properties, assets } = (stac ?? {}) as { properties?: Fields; assets?: Record<string, Fields> }
  const fields = [properties, ...Object.values(assets ?? {})]
  for (const each of fields) {
    const code = each?.['proj:epsg'] ?? String(each?.['proj:code'] ?? '').replace(/^EPSG:/, '')
    const epsg = Number(code)
    if (code !== '' && Number.isInteger(epsg) && epsg > 0) return epsg
  }
  return null
}

type Fields = Record<string, unknown>
