import Type from 'typebox'
import { parseInstant } from '#core/interval.ts'
import { Closed, Described, Limit, Nullable, Offset, Timestamp, Uuid } from '#core/shapes.ts'
import * as audit from '#model/platform/audit.ts'
import * as organizations from '#model/identity/organization.ts'
import { operation } from '#operation.ts'
import { EXAMPLE_IDS } from '#wire/examples.ts'

const Entry = Closed(
  {
    invocation_id: Described(Uuid, 'Invocation ID, as in the `X-Svc-Invocation-ID` response header'),
    at: Described(Timestamp, 'Time of the call'),
    operation: Type.String({ description: 'Operation ID' }),
    principal_kind: Type.String({ description: 'Type of caller: user, API key, worker or the service itself' }),
    principal_id: Type.String({ description: 'ID of the caller' }),
    user_id: Described(Nullable(Uuid), 'User ID; null if no user was involved'),
    api_key_id: Described(Nullable(Uuid), 'API key ID; null if no key was used'),
    input_sha256: Described(Nullable(Type.String()), 'SHA-256 digest of the input; null if none was read'),
    status: Type.Integer({ description: 'HTTP status of the response' }),
    duration_ms: Type.Integer({ description: 'Duration in milliseconds' }),
    artifacts: Type.Array(Type.String(), { description: 'Objects the call created' }),
    calls: Type.Integer({
      description: 'Number of calls: successful reads of tiles and thumbnails share one entry per minute, caller and subject',
    }),
    subject: Described(Nullable(Type.String()), 'Item, collection or scene of such reads; null for other calls'),
  },
  { $id: 'AuditEntry', description: 'A recorded call' },
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
  calls: 1,
  subject: null,
}

/** Lists all calls made for the organization, including failed ones, newest first; for owners and admins. */
export default operation({
  id: 'organizations.audit.list',
  scope: 'organizations:read',
  tier: 'read',
  readsReplica: true,
  input: Closed({
    operation: Described(Type.Optional(Nullable(Type.String({ maxLength: 200 }))), 'Only calls of this operation'),
    user_id: Described(Type.Optional(Nullable(Uuid)), 'Only calls by this user'),
    from: Described(Type.Optional(Nullable(Timestamp)), 'Start of the period'),
    to: Described(Type.Optional(Nullable(Timestamp)), 'End of the period'),
    limit: Limit(100, 1000),
    offset: Offset,
  }),
  output: Closed({
    entries: Type.Array(Entry, { description: 'Audit entries, newest first' }),
    count: Type.Integer({ description: 'Number of results returned' }),
  }),
  example: { input: { operation: 'projects.create' }, output: { entries: [EXAMPLE_ENTRY], count: 1 } },
}).handle({
  async check({ principal }) {
    const organizationId = organizations.requireOrganization(principal)
    organizations.requireAdmin(principal)
    return organizationId
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
      calls: row.calls,
      subject: row.subject,
    }))
    return { entries, count: entries.length }
  },
})
