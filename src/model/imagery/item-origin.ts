/** The origins an item can name: jobs, orders and uploads of its own project. */
import { isUuid } from '#core/ids.ts'
import { invalidField } from '#core/problem.ts'
import type { Db } from '#db/tables.ts'

interface Origins {
  order_id?: string | null | undefined
  upload_id?: string | null | undefined
  job_id?: string | null | undefined
}

const TABLES = { order_id: 'imagery_order', upload_id: 'upload_session', job_id: 'processing_job' } as const
const NAMES = { order_id: 'an order', upload_id: 'an upload', job_id: 'a job' } as const

/** 422 for an origin outside the project, with the same message whether it exists elsewhere or not. */
export async function requireOrigins(
  db: Db,
  { id: projectId, organizationId }: { id: string; organizationId: string },
  origins: Origins,
): Promise<void> {
  for (const field of ['order_id', 'upload_id', 'job_id'] as const) {
    const id = origins[field]
    if (id == null) continue
    const row = isUuid(id)
      ? await db
          .selectFrom(TABLES[field])
          .select('id')
          .where('id', '=', id)
          .where('org_id', '=', organizationId)
          .where('project_id', '=', projectId)
          .executeTakeFirst()
      : undefined
    if (!row) throw invalidField(field, `must be the ID of ${NAMES[field]} in this project`)
  }
}
