/** PMTiles archives: a local file, or a file of another host that is read in ranges. */
import { open } from 'node:fs/promises'
import { PMTiles, TileType, type RangeResponse, type Source } from 'pmtiles'
import type { Egress } from '#adapters/egress/guard.ts'
import { isObject, plainText, StyleError, type ArchiveInfo } from './style.ts'

/** More than any directory or tile has. */
const MAX_RANGE_BYTES = 8 * 1024 * 1024
const DEADLINE_MS = 15_000
const MAX_REDIRECTS = 3
const MAX_LAYERS = 200

export const openArchive = (location: string, egress: Egress): PMTiles =>
  new PMTiles(/^https?:/.test(location) ? urlSource(location, egress) : fileSource(location))

export async function archiveInfo(archive: PMTiles): Promise<ArchiveInfo> {
  const { tileType, minZoom, maxZoom, minLon, minLat, maxLon, maxLat } = await archive.getHeader()
  if (tileType === TileType.Unknown) throw new StyleError('is an archive of tiles of an unknown type')
  const metadata: unknown = await archive.getMetadata()
  const about = isObject(metadata) ? metadata : {}
  const layers = Array.isArray(about['vector_layers']) ? about['vector_layers'].slice(0, MAX_LAYERS) : []
  return {
    isVector: tileType === TileType.Mvt,
    minzoom: minZoom,
    maxzoom: maxZoom,
    bounds: [minLon, minLat, maxLon, maxLat],
    attribution: plainText(about['attribution']),
    layers: layers.flatMap((layer: unknown) => (isObject(layer) && typeof layer['id'] === 'string' ? layer['id'] : [])),
  }
}

/** Opened for each read, which the cache of tiles makes rare enough. */
function fileSource(file: string): Source {
  return {
    getKey: () => file,
    async getBytes(offset, length): Promise<RangeResponse> {
      requireLength(length)
      const handle = await open(file)
      try {
        const { buffer, bytesRead } = await handle.read(new Uint8Array(length), 0, length, offset)
        return { data: buffer.buffer.slice(0, bytesRead) }
      } finally {
        await handle.close()
      }
    },
  }
}

function urlSource(url: string, egress: Egress): Source {
  return {
    getKey: () => url,
    async getBytes(offset, length): Promise<RangeResponse> {
      requireLength(length)
      const { status, body } = await egress.fetch(url, {
        headers: { range: `bytes=${offset}-${offset + length - 1}` },
        maxBytes: length,
        beyondMaxBytes: 'cut', // The rest of a file whose host ignores ranges is not read.
        maxRedirects: MAX_REDIRECTS,
        deadlineMs: DEADLINE_MS,
      })
      if (status !== 206 && !(status === 200 && offset === 0)) throw new StyleError(`responds to a range with HTTP ${status}`)
      return { data: new Uint8Array(body).buffer }
    },
  }
}

function requireLength(length: number): void {
  if (length > MAX_RANGE_BYTES) throw new StyleError('is an archive with larger parts than can be read')
}
