/** `/health`, `/ready` and `/metrics`, which workers serve too. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { problem } from '#core/problem.ts'
import type { Platform } from '#pipeline/platform.ts'
import { credentialOf } from './credential.ts'
import { isOwnRequest } from './local.ts'
import type { Metrics } from '#background/metrics.ts'

export interface HealthParts {
  platform: Platform
  metrics: Metrics
  /** Why the process should get no traffic; null if it is ready. */
  readiness: () => string | null
  /** Of the database. */
  diskSpace: { isExhausted(): Promise<boolean> }
  /** Only people at this machine can reach the port. */
  isLocal: boolean
  /** Bearer token for `/metrics`; if empty, `/metrics` is open on a local service and closed otherwise. */
  metricsToken: string
}

export function registerHealth(
  app: FastifyInstance,
  { platform, metrics, readiness, diskSpace, isLocal, metricsToken }: HealthParts,
): void {
  app.get('/health', async () => ({ status: 'ok' }))
  app.get('/ready', async () => {
    const reason = readiness()
    if (reason !== null) throw problem('unavailable', reason, { headers: { 'Retry-After': '5' } })
    if (await diskSpace.isExhausted()) throw problem('insufficient-storage', 'The database has no disk space left')
    return { status: 'ready' }
  })
  app.get('/metrics', async (request, reply) => {
    requireOperator(request, { isLocal: isLocal && isOwnRequest(request, platform.baseUrl()), metricsToken })
    return reply.type(metrics.contentType).send(await metrics.text())
  })
}

/** Metrics show who uses the service and how much, so only its operator can read them. */
function requireOperator(request: FastifyRequest, { isLocal, metricsToken }: Pick<HealthParts, 'isLocal' | 'metricsToken'>): void {
  if (!metricsToken && isLocal) return
  if (!metricsToken) throw problem('forbidden', 'The operator of this service has set no METRICS_TOKEN, so its metrics are closed')
  const given = credentialOf(request)?.secret ?? ''
  const digest = (text: string) => createHash('sha256').update(text).digest()
  if (!timingSafeEqual(digest(given), digest(metricsToken)))
    throw problem('unauthorized', 'Send the METRICS_TOKEN of this service as a bearer token', {
      headers: { 'WWW-Authenticate': 'Bearer realm="metrics"' },
    })
}
