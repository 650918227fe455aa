/**
 * The plainest server around our engine, for `bench/tiles.ts`: one process that draws in its own event loop, as the peer
 * does. GET /tile?path&z&x&y&options (JSON) and POST /clear, which empties every cache.
 */
import { createServer } from 'node:http'

import { createContext } from '#raster/render/context.ts'
import { renderCachedTile } from '#raster/render/tile.ts'
import { openFileSource } from '#raster/source/file.ts'
import { openTiff } from '#raster/tiff/open.ts'

let context = createContext()

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '/', 'http://127.0.0.1')
  if (request.method === 'POST') {
    context = createContext()
    response.end()
    return
  }
  draw(url.searchParams).then(
    (tile) => response.end(tile),
    (error: unknown) => response.writeHead(500).end(String(error)),
  )
})

async function draw(query: URLSearchParams): Promise<Buffer> {
  const path = query.get('path') ?? ''
  const raster = await context.rasters.get(path, async () => openTiff(await openFileSource(path)))
  const [z = 0, x = 0, y = 0] = ['z', 'x', 'y'].map((name) => Number(query.get(name)))
  return renderCachedTile(context, raster, { z, x, y }, JSON.parse(query.get('options') ?? '{}'))
}

server.listen(Number(process.argv[2]), '127.0.0.1')
