/** A page of somebody else, on another host than the service, for what can be embedded in it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** Its URL. It has a field, and lies below the window's edge with what is embedded. */
export async function hostPage(t: TestContext, embedCode: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      `<!doctype html><html lang="en"><title>Our valley</title><h1>Our valley</h1>` +
        `<input aria-label="Search this site" autofocus>${embedCode}<p style="height: 1200px">More about it.</p>`,
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close().closeAllConnections())
  // Browsers take `localhost` and 127.0.0.1 for different sites.
  return `http://localhost:${(server.address() as AddressInfo).port}/`
}
