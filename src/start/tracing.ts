import os from 'node:os'
import type { Logger } from 'pino'
import type { Config } from '#config.ts'
import { installTracer } from '#core/tracing.ts'
import { samplerOf } from '#core/trace-sampler.ts'
import { VERSION } from '#core/version.ts'

/** Records traces and sends them to the collector. Without one, none of this is loaded. */
export async function startTracing({ tracing, role }: Config, log: Logger, started: AsyncDisposableStack): Promise<void> {
  if (!tracing) return
  const { createExporter } = await import('#adapters/tracing/exporter.ts')
  const { createTracer } = await import('#adapters/tracing/tracer.ts')
  const exporter = createExporter({
    url: tracing.url,
    headers: tracing.headers,
    resource: {
      'host.name': os.hostname(),
      'process.pid': process.pid,
      'groundtrack.role': role,
      ...tracing.resource,
      'service.name': tracing.serviceName,
      'service.version': VERSION,
    },
    version: VERSION,
    onError: (message) => log.warn(message),
  })
  started.defer(() => exporter.close())
  started.defer(installTracer(createTracer(samplerOf(tracing.sampler, tracing.ratio), exporter.add)))
}
