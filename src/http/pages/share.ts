/** `GET /s/{token}`: one and the same page for every token. Whether there is such a link is answered to a password, not to an address. */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import { SHARE_POLICY } from '#http/headers.ts'

const PAGE = path.join(import.meta.dirname, '../../../packages/share/share.html')

export function registerSharePage(app: FastifyInstance): void {
  let page: Promise<Buffer> | null = null
  app.get('/s/:token', async (_request, reply) => {
    const html = await (page ??= readFile(PAGE))
    return reply
      .headers({ 'Content-Security-Policy': SHARE_POLICY, 'Cache-Control': 'no-cache', 'X-Robots-Tag': 'noindex, nofollow' })
      .type('text/html; charset=utf-8')
      .send(html)
  })
}
