import { createWebhooks } from '#adapters/webhooks/sender.ts'
import type { Config } from '#config.ts'
import type { Webhooks } from '#ports/webhooks.ts'
import type { SandboxReceiver } from '../../sandbox/webhooks/receiver.ts'

/** A webhook endpoint that needs no internet, for guides and examples. */
export async function startReceiver({ sandbox, isLocal }: Config, started: AsyncDisposableStack): Promise<SandboxReceiver | null> {
  if (!sandbox || !isLocal) return null
  const { startSandboxReceiver } = await import('../../sandbox/webhooks/receiver.ts')
  const receiver = await startSandboxReceiver()
  started.defer(() => receiver.close())
  return receiver
}

export function openWebhooks(config: Config, receiver: SandboxReceiver | null): Webhooks {
  return createWebhooks({
    allow: [...config.egressAllow, ...(receiver ? [receiver.host] : [])],
    backoffSeconds: config.webhookBackoffSeconds,
    timeoutMs: config.webhookTimeoutSeconds * 1_000,
  })
}
