import type { Rows } from '../rows.ts'
import { OPERATORS } from '../statuses.ts'

export const rows: Rows = {
  'webhooks.drain': { ...OPERATORS, input: () => ({ limit: 1 }), breaks: 'table webhook_delivery' },
}
