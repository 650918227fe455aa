/** A host of map tiles in the hands of a test: one colour everywhere, for whoever has the key. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import sharp from 'sharp'
import type { BaseMapSetting } from '#core/base-maps.ts'

export const MAP_KEY = 'k3y-of-the-operator'

export interface MapHost {
  readonly host: string
  /** Paths that were requested, with their query. */
  readonly asked: string[]
  /** Status of all responses instead of a tile. */
  status?: number | undefined
  setting(id: BaseMapSetting['id'], name: string): BaseMapSetting
}

export async function mapHost(t: TestContext, colour: string): Promise<MapHost> {
  const tile = await sharp({ create: { width: 256, height: 256, channels: 3, background: colour } })
    .png()
    .toBuffer()
  const server = createServer((request, response) => {
    host.asked.push(request.url!)
    const status = host.status ?? (new URL(request.url!, 'http://host').searchParams.get('key') === MAP_KEY ? 200 : 403)
    response.writeHead(status, { 'content-type': 'image/png' }).end(status === 200 ? tile : '')
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const host: MapHost = {
    host: address,
    asked: [],
    setting: (id, name) => ({
      id,
      name,
      kind: 'raster',
      location: `http://${address}/{z}/{x}/{y}.png?key=${MAP_KEY}`,
      attribution: `© ${name} example`,
    }),
  }
  return host
}
