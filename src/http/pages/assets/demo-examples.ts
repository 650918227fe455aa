/**
 * For the reference in the browser: request examples get values of the running demo, so that they work unchanged. Examples of
 * operations that delete or revoke keep IDs that do not exist, so that nobody loses demo data by trying a button.
 */
type Json = Record<string, unknown>

const DESTRUCTIVE = /(^|[._])(delete|remove|revoke|cancel|detach|fail|reject)([._]|$)/
/** Its `job_id` is that of a clip job, which the demo does not have. */
const OTHER_JOBS = /^clip\./

export function withDemoExamples(contract: Json, fields: Readonly<Record<string, string>>): Json {
  for (const methods of Object.values((contract['paths'] ?? {}) as Record<string, Json>))
    for (const operation of Object.values(methods) as Json[]) {
      const id = String(operation['operationId'] ?? '')
      if (DESTRUCTIVE.test(id)) continue
      const { job_id: _job, ...others } = fields
      const known = OTHER_JOBS.test(id) ? others : fields
      const body = operation['requestBody'] as { content?: Record<string, Json> } | undefined
      for (const content of Object.values(body?.content ?? {})) {
        if ('example' in content) content['example'] = filled(content['example'], known, id)
        for (const example of Object.values((content['examples'] ?? {}) as Record<string, Json>))
          example['value'] = filled(example['value'], known, id)
      }
    }
  return contract
}

function filled(value: unknown, fields: Readonly<Record<string, string>>, id: string): unknown {
  if (Array.isArray(value)) return value.map((each) => filled(each, fields, id))
  if (value === null || typeof value !== 'object') return value
  const isShared = id.startsWith('share.') && 'token' in value
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => {
      if (isShared && (name === 'token' || name === 'password')) return [name, fields[`share_${name}`] ?? each]
      if (Object.hasOwn(fields, name) && typeof each === 'string') return [name, fields[name]]
      if (name === 'item_ids' && fields['item_id'] && Array.isArray(each)) return [name, [fields['item_id']]]
      return [name, filled(each, fields, id)]
    }),
  )
}
