/**
 * `GET /s/{token}`, and `/s/{token}/embed` for frames: the same page for every token. Only the right password reveals whether the link
 * exists.
 */
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import type { FastifyInstance } from 'fastify'
import Type, { type Static } from 'typebox'
import { GRANT_SECONDS } from '#wire/share.ts'
import { Closed } from '#core/shapes.ts'
import { callerAddress } from '#http/caller.ts'
import { parseBody } from '#http/body.ts'
import { EMBED_POLICY, SHARE_POLICY } from '#http/headers.ts'
import type { Platform } from '#pipeline/platform.ts'
import { validateInput } from '#core/validate.ts'

const PAGE = path.join(import.meta.dirname, '../../../packages/share/share.html')
const Entry = Closed({ password: Type.String({ maxLength: 1_000 }) })

export function registerSharePage(app: FastifyInstance): void {
  let page: Promise<Buffer> | null = null
  for (const [address, policy] of [
    ['/s/:token', SHARE_POLICY],
    ['/s/:token/embed', EMBED_POLICY],
  ] as const)
    app.get(address, async (_request, reply) => {
      const html = await (page ??= readFile(PAGE))
      return reply
        .headers({ 'Content-Security-Policy': policy, 'Cache-Control': 'no-cache', 'X-Robots-Tag': 'noindex, nofollow' })
        .type('text/html; charset=utf-8')
        .send(html)
    })
}

/** The page's unlock route: only wrong passwords count as attempts, so that many visitors with the right one are never rejected. */
export function registerShareUnlock(app: FastifyInstance, { platform }: { platform: Platform }): void {
  app.post<{ Params: { token: string }; Body: Buffer | undefined }>('/s/:token', async (request, reply) => {
    const { allowance } = platform.authenticator.anonymous(callerAddress(request))
    if (allowance) reply.headers((await platform.rateLimiter.admit(allowance)).headers)
    const { password } = validateInput(
      Entry,
      parseBody(request.body, request.headers['content-type'], request.headers['content-encoding']),
    ) as Static<typeof Entry>
    return reply.header('Cache-Control', 'no-store').send({ grant: await grantFor(platform, request.params.token, password) })
  })
  /** Tells the page whether to ask for a password. Links with one, ended links and unknown tokens look alike. */
  app.get<{ Params: { token: string } }>('/s/:token/public', async (request, reply) => {
    const { allowance } = platform.authenticator.anonymous(callerAddress(request))
    if (allowance) reply.headers((await platform.rateLimiter.admit(allowance)).headers)
    const { token } = request.params
    const grant = (await platform.services.shares.isPublic(token)) ? await grantFor(platform, token, '') : null
    return reply.header('Cache-Control', 'no-store').send({ grant })
  })
}

async function grantFor({ services: { shares } }: Platform, token: string, password: string): Promise<string> {
  const share = await shares.open(token, password, 'failed')
  return (await share.sign(share.scope, GRANT_SECONDS)).grant
}
