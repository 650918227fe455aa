import Type from 'typebox'
import { parseInstant } from '#core/interval.ts'
import { Closed, Limit, Nullable, Offset, Timestamp, Uuid } from '#core/shapes.ts'
import * as audit from '#model/platform/audit.ts'
import * as organization from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const Entry = Closed(
  {
    invocation_id: Uuid,
    at: Timestamp,
    operation: Type.String(),
    principal_kind: Type.String(),
    principal_id: Type.String(),
    user_id: Nullable(Uuid),
    api_key_id: Nullable(Uuid),
    input_sha256: Nullable(Type.String()),
    status: Type.Integer(),
    duration_ms: Type.Integer(),
    artifacts: Type.Array(Type.String()),
  },
  { $id: 'AuditEntry' },
)

const EXAMPLE_ENTRY = {
  invocation_id: '0199f2c5-0001-7aaa-8bbb-0123456789ab',
  at: '2026-03-01T09:30:00.000Z',
  operation: 'projects.create',
  principal_kind: 'user',
  principal_id: EXAMPLE_IDS.user,
  user_id: EXAMPLE_IDS.user,
  api_key_id: null,
  input_sha256: '44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a',
  status: 200,
  duration_ms: 12,
  artifacts: ['project 0199f2c4-5c1a-7b3e-9a44-0d6f3c1b2a10'],
}

/** Every call made for the organization, failed ones too, newest first; for owners and admins. */
export default operation({
  id: 'organizations.audit.list',
  scope: 'organizations:read',
  tier: 'read',
  input: Closed({
    operation: Type.Optional(Nullable(Type.String({ maxLength: 200 }))),
    user_id: Type.Optional(Nullable(Uuid)),
    from: Type.Optional(Nullable(Timestamp)),
    to: Type.Optional(Nullable(Timestamp)),
    limit: Limit(100, 1000),
    offset: Offset,
  }),
  output: Closed({ entries: Type.Array(Entry), count: Type.Integer() }),
  example: { input: { operation: 'projects.create' }, output: { entries: [EXAMPLE_ENTRY], count: 1 } },
}).handle({
  async check({ principal }) {
    const own = organization.requireOrganization(principal)
    organization.requireAdmin(principal)
    return own
  },
  async execute({ db }, input, organizationId) {
    const rows = await audit.list(db, organizationId, {
      operation: input.operation ?? null,
      userId: input.user_id ?? null,
      from: input.from ? parseInstant(input.from, 'from') : null,
      to: input.to ? parseInstant(input.to, 'to') : null,
      limit: input.limit,
      offset: input.offset,
    })
    const entries = rows.map((row) => ({
      invocation_id: row.invocationId,
      at: row.at.toISOString(),
      operation: row.operation,
      principal_kind: row.principalKind,
      principal_id: row.principalId,
      user_id: row.userId,
      api_key_id: row.apiKeyId,
      input_sha256: row.inputHash?.toString('hex') ?? null,
      status: row.status,
      duration_ms: row.durationMs,
      artifacts: row.artifacts,
    }))
    return { entries, count: entries.length }
  },
})
