import Type from 'typebox'
import { DAY_MS } from '#core/time.ts'
import { problem } from '#core/problem.ts'
import { grantsAtMost } from '#core/scopes.ts'
import { Closed, Defaulted, Described, NotBlank, Nullable, Timestamp, Uuid } from '#core/shapes.ts'
import * as apiKeys from '#model/identity/api-key.ts'
import { requireOrganization } from '#model/identity/organization.ts'
import { operation, type WriteContext } from '#operation.ts'
import { EXAMPLE_KEY, Permission } from './wire.ts'

/** A hundred years. */
const MAX_DAYS = 36_500

/**
 * Creates a key of the caller's organization. Only this response contains the secret. A key created with another key has no
 * more permissions than that key, does not outlive it, and is revoked with it.
 */
export default operation({
  id: 'api_keys.create',
  scope: 'api_keys:write',
  tier: 'share_export',
  changesAccess: true,
  input: Closed({
    name: Described(NotBlank(200), 'Display name of the key'),
    permissions: Defaulted(Type.Array(Permission, { maxItems: 10 }), ['read'], {
      description: 'Permissions to grant: `read`, `write`, `process`',
    }),
    rate_limit: Described(
      Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: 2_147_483_647 }))),
      "Requests allowed per hour; null for the organization's default",
    ),
    expires_in_days: Described(
      Type.Optional(Nullable(Type.Integer({ minimum: 1, maximum: MAX_DAYS }))),
      'Days until the key expires; null or omitted if it never expires',
    ),
  }),
  output: Closed(
    {
      id: Described(Uuid, 'API key ID'),
      key: Type.String({ description: 'The API key; shown only in this response' }),
      prefix: Type.String({ description: 'First 12 characters of the key, to tell keys apart' }),
      name: Type.String({ description: 'Display name of the key' }),
      permissions: Type.Array(Permission, { description: 'Permissions of the key: `read`, `write`, `process`' }),
      rate_limit: Type.Integer({ description: 'Requests allowed per hour' }),
      expires_at: Described(Nullable(Timestamp), 'Expiry time; null if it never expires'),
      created_at: Described(Timestamp, 'Creation time'),
    },
    { description: 'The new API key; the key itself is shown only here' },
  ),
  example: {
    input: { name: 'QGIS on my laptop', permissions: ['read'], expires_in_days: 365 },
    output: {
      id: EXAMPLE_KEY.id,
      key: 'svc_k3Jx9QpL_0000000000000000000000000000000000EXAMPL',
      prefix: EXAMPLE_KEY.prefix,
      name: EXAMPLE_KEY.name,
      permissions: ['read'],
      rate_limit: 1_000,
      expires_at: EXAMPLE_KEY.expires_at,
      created_at: EXAMPLE_KEY.created_at,
    },
  },
}).handle({
  async check({ principal }, { permissions }) {
    const organizationId = requireOrganization(principal)
    if (!principal.userId) throw problem('forbidden', 'Only a signed-in user can create an API key')
    if (principal.kind === 'api_key' && !grantsAtMost(principal, permissions))
      throw problem('forbidden', 'A key can only create keys with permissions that it holds itself')
    return { organizationId, userId: principal.userId }
  },
  async execute({ tx, principal, clock }, input, owner) {
    const now = clock.now()
    const requested = {
      rateLimitPerHour: input.rate_limit ?? null,
      expiresAt: input.expires_in_days ? new Date(now.getTime() + input.expires_in_days * DAY_MS) : null,
    }
    const { key, secret } = await apiKeys.insert(tx, {
      ...owner,
      ...(principal.apiKeyId ? await limitTo(tx, principal.apiKeyId, requested) : requested),
      name: input.name,
      permissions: [...new Set(input.permissions)],
      madeByKeyId: principal.apiKeyId,
      now,
    })
    return {
      id: key.id,
      key: secret,
      prefix: key.prefix,
      name: key.name,
      permissions: key.permissions as ('read' | 'write' | 'process')[],
      rate_limit: key.rateLimitPerHour,
      expires_at: key.expiresAt?.toISOString() ?? null,
      created_at: key.createdAt.toISOString(),
    }
  },
})

interface Bounds {
  rateLimitPerHour: number | null
  expiresAt: Date | null
}

/** A key cannot create keys with a higher rate limit or a later expiry than its own; omitted bounds are inherited. */
async function limitTo(tx: WriteContext['tx'], creatorId: string, requested: Bounds): Promise<Bounds> {
  const creator = await apiKeys.lockMaker(tx, creatorId)
  if (!creator) throw problem('unauthorized', 'Invalid authentication credentials')
  if ((requested.rateLimitPerHour ?? 0) > creator.rateLimitPerHour)
    throw problem('forbidden', `A key can only create keys with a rate limit up to its own, ${creator.rateLimitPerHour} requests per hour`)
  if (requested.expiresAt && creator.expiresAt && requested.expiresAt > creator.expiresAt)
    throw problem('forbidden', `A key can only create keys that expire no later than itself, on ${creator.expiresAt.toISOString()}`)
  return { rateLimitPerHour: requested.rateLimitPerHour ?? creator.rateLimitPerHour, expiresAt: requested.expiresAt ?? creator.expiresAt }
}
