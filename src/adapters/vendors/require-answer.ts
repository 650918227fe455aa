import type { Static, TSchema } from 'typebox'
import type { Validator } from 'typebox/compile'
import { VendorError } from '#ports/vendors/call.ts'
import { ask } from './ask.ts'
import type { Host, HostRequest } from './host.ts'

/** A validated response; `not-found` for 404. */
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
