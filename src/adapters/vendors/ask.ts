/** Requests whose responses are validated: adapters believe nothing else. */
import type { Static, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { VendorError, type CallOptions } from '#ports/vendors/call.ts'
import type { Host, HostRequest } from './host.ts'

/** A validated response; null for 404. */
export async function ask<T extends TSchema>(
  host: Host,
  schema: Validator<Record<never, never>, T>,
  request: HostRequest & CallOptions,
  what: string,
): Promise<Static<T> | null> {
  const response = await host.json(request)
  if (response === null) return null
  if (!schema.Check(response)) throw new VendorError('invalid-response', host.name, `${host.name} returned an invalid ${what}`)
  return response as Static<T>
}
