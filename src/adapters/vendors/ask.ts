/** Requests whose responses are validated before anything is read from them. */
import type { Static, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { VendorError } from '#ports/vendors.ts'
import type { Host, HostRequest } from './host.ts'

/** A valid response; null for 404. */
export async function ask<T extends TSchema>(
  host: Host,
  schema: Validator<Record<never, never>, T>,
  request: HostRequest,
  what: string,
): Promise<Static<T> | null> {
  const response = await host.json(request)
  if (response === null) return null
  if (!schema.Check(response)) throw new VendorError('invalid-response', host.name, `${host.name} returned an invalid ${what}`)
  return response as Static<T>
}

/** The same; `not-found` for 404. */
export async function requireAnswer<T extends TSchema>(
  host: Host,
  schema: Validator<Record<never, never>, T>,
  request: HostRequest,
  what: string,
): Promise<Static<T>> {
  const answer = await ask(host, schema, request, what)
  if (answer === null) throw new VendorError('not-found', host.name, `${host.name} has no such ${what}`)
  return answer
}
