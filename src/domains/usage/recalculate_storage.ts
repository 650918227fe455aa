import Type from 'typebox'
import { HOUR_MS } from '#core/time.ts'
import { problem } from '#core/problem.ts'
import { Closed } from '#core/shapes.ts'
import * as organizations from '#model/identity/organization.ts'
import * as reports from '#model/plans/usage-report.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

/** Recalculates storage use from the assets and corrects the counters; for owners and admins, at most once an hour. */
export default operation({
  id: 'usage.recalculate_storage',
  scope: 'usage:write',
  tier: 'compute',
  input: Closed({ organization_id: Type.Optional(Type.String({ description: "Organization ID; defaults to the caller's organization" })) }),
  output: Closed(
    {
      previous_bytes: Type.Integer({ description: 'Storage use before the recalculation, in bytes' }),
      storage_bytes: Type.Integer({ description: 'Storage use in bytes' }),
    },
    { description: 'Storage use before and after the recalculation' },
  ),
  example: { input: { organization_id: EXAMPLE_IDS.organization }, output: { previous_bytes: 734_003_200, storage_bytes: 734_003_200 } },
}).handle({
  async check({ principal }, { organization_id }) {
    const organizationId =
      organization_id === undefined
        ? organizations.requireOrganization(principal)
        : organizations.requireNamedOrganization(principal, organization_id)
    if (principal.kind !== 'service') organizations.requireAdmin(principal)
    return organizationId
  },
  async execute({ tx, clock }, _input, organizationId) {
    const now = clock.now()
    const { previousBytes, storageBytes } = await reports.recountStorage(tx, organizationId, now, (last) => requireHourPassed(last, now))
    return { previous_bytes: previousBytes, storage_bytes: storageBytes }
  },
})

function requireHourPassed(last: Date | null, now: Date): void {
  const waitMs = last ? last.getTime() + HOUR_MS - now.getTime() : 0
  if (waitMs > 0)
    throw problem('rate-limited', `Storage was last recalculated at ${last!.toISOString()}; this is possible once an hour`, {
      headers: { 'Retry-After': String(Math.ceil(waitMs / 1000)) },
    })
}
