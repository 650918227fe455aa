import { ofOrganization, otherOrganization } from '../makers.ts'
import type { Rows } from '../rows.ts'
import { NOBODY, READS_NAMED_ORGANIZATION } from '../statuses.ts'

export const rows: Rows = {
  'usage.current': { ...READS_NAMED_ORGANIZATION, input: ofOrganization, missing: otherOrganization, breaks: 'table egress_minute' },
  'usage.history': { ...READS_NAMED_ORGANIZATION, input: ofOrganization, missing: otherOrganization, breaks: 'column usage_day.amount' },
  'usage.recalculate_storage': {
    input: async (w, org) => {
      // Else it is once an hour.
      await w.db.updateTable('storage_account').set({ recalculated_at: null }).execute()
      return { organization_id: org.id }
    },
    missing: otherOrganization,
    a: `${NOBODY} | 200 200 403 403 | 403 403 | 403 200 403 | 403 403 200 403`,
    b: `${NOBODY} | 403 403 403 403 | 200 403 | 403 403 403 | 403 403 403 403`,
    breaks: 'column storage_account.recalculated_at',
  },
}
