import type { Logger } from 'pino'
import { startStoreListener } from '#adapters/storage/listener.ts'
import { openStorage } from '#adapters/storage/open.ts'
import { createEgressRecorder } from '#background/egress.ts'
import { createUploadQuota } from '#background/upload-quota.ts'
import type { Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import type { Db } from '#db/tables.ts'
import { openStoreSecrets } from '#background/store-secrets.ts'
import type { Storage } from '#ports/storage.ts'
import { listenProblem } from './listen-problem.ts'

/** The object store. The embedded one has its own listener, so that file bytes never pass through the API. */
export async function startStorage(
  config: Config,
  { db, log, baseUrl }: { db: Db; log: Logger; baseUrl: () => string },
  started: AsyncDisposableStack,
): Promise<{ storage: Storage; storeOrigins: () => string[] }> {
  const secrets = await openStoreSecrets(db, systemClock, (error) => log.error({ err: error }, 'store secrets'))
  started.defer(() => secrets.close())
  let publicUrl = config.storeUrl
  const store = await openStorage({ ...config, publicUrl: () => publicUrl, secrets, clock: systemClock })
  started.defer(() => store.close())
  if (store.kind === 'files' && config.role !== 'worker') {
    const egress = createEgressRecorder(db, systemClock, (error) => log.error({ err: error }, 'egress'))
    started.defer(() => egress.close())
    const listener = await startStoreListener({
      egress,
      quota: createUploadQuota(db, systemClock),
      store,
      host: config.host,
      port: config.storePort,
      trustedProxies: config.trustedProxies,
      keepAliveSeconds: config.keepAliveSeconds,
      secrets,
      clock: systemClock,
      log,
      baseUrl,
    }).catch((error: unknown) => {
      throw listenProblem(error, { setting: 'STORE_PORT', host: config.host, port: config.storePort, dataDir: config.dataDir })
    })
    started.defer(() => listener.close())
    if (config.storePort === 0) publicUrl = publicUrl.replace(/:0$/, `:${listener.port}`)
  }
  const origin = (url: string) => new URL(url).origin
  const publicEndpoint = config.s3PublicEndpoint || config.s3Endpoint
  const storeOrigins = () =>
    store.kind === 'files' ? [origin(publicUrl)] : publicEndpoint ? [origin(publicEndpoint)] : ['https://*.amazonaws.com']
  return { storage: store, storeOrigins }
}
