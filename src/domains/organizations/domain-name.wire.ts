import Type from 'typebox'
import { notFound } from '#core/problem.ts'
import type { Context } from '#operation.ts'
import * as domains from '#model/identity/sso-domain.ts'

export const DomainName = Type.String({ minLength: 1, maxLength: 253, description: 'Domain of email addresses, such as coastal.example' })

export async function requireDomain(db: Context['db'], organizationId: string, domain: string): Promise<domains.Domain> {
  const found = await domains.find(db, organizationId, domains.normalise(domain) ?? domain)
  if (!found) throw notFound('domain')
  return found
}
