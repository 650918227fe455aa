import { invalidField } from '#core/problem.ts'
import type { Context } from '#operation.ts'

/** Refuses what the guard would refuse at delivery. It is asked again for each connection, because names move. */
export async function requireEndpoint({ webhooks }: Pick<Context, 'webhooks'>, url: string): Promise<void> {
  const refusal = await webhooks.refusalOf(url)
  if (refusal) throw invalidField('endpoint_url', `must be an https address on the public internet. ${refusal}`)
}
