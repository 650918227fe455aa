import { invalidField } from '#core/problem.ts'
import type { Context } from '#operation.ts'

/** Rejects URLs that the outbound guard would block. The guard checks again for each connection, because DNS records change. */
export async function requireEndpoint({ webhooks }: Pick<Context, 'webhooks'>, url: string): Promise<void> {
  const refusal = await webhooks.rejectionReason(url)
  if (refusal) throw invalidField('endpoint_url', `must be a public HTTPS URL. ${refusal}`)
}
