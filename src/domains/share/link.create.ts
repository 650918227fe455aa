import { randomBytes } from 'node:crypto'
import Type from 'typebox'
import { parseInstant } from '#core/interval.ts'
import { invalidField, problem } from '#core/problem.ts'
import type { Principal } from '#core/principal.ts'
import { Closed, Defaulted, Described, Timestamp } from '#core/shapes.ts'
import type { SharePermission, ShareTarget } from '#core/vocabulary.ts'
import * as collections from '#model/imagery/collection.ts'
import * as items from '#model/imagery/item-read.ts'
import * as maps from '#model/imagery/map.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as shareLinks from '#model/sharing/share-link.ts'
import { operation, type Context } from '#operation.ts'
import { EXAMPLE_LINK, EXAMPLE_PASSWORD, EXAMPLE_TOKEN, NewLink, Permission, Target, TargetId, toRecord } from './wire.ts'

/** bcrypt ignores everything after 72 bytes. */
const MAX_PASSWORD_BYTES = 72
/** Of the password of a public link, which nobody knows. */
const RANDOM_PASSWORD_BYTES = 32

/**
 * Shares an item, a collection or a map with anyone who has the link and its password, until it expires. With `is_public`, the link alone
 * opens it, if the organization allows public links. The token is only in this response.
 */
export default operation({
  id: 'share.link.create',
  scope: 'shares:write',
  tier: 'share_export',
  produces: ['share_link:derived_from>item|collection'],
  input: Closed({
    target_type: Described(Target, 'Type of the shared object'),
    target_id: Described(TargetId, 'ID of the shared object'),
    permission: Defaulted(Permission, 'view', { description: 'Whether visitors can only view, or also download' }),
    password: Type.Optional(
      Type.String({ minLength: 8, maxLength: 1_000, description: 'Password visitors must enter; required unless `is_public` is true' }),
    ),
    is_public: Defaulted(Type.Boolean(), false, {
      description: 'Whether anyone with the link can open it, without a password; requires `organizations.set_public_links`',
    }),
    expires_at: Described(Timestamp, 'Expiry time'),
  }),
  output: NewLink,
  example: {
    input: { target_type: 'item', target_id: EXAMPLE_LINK.target_id, password: EXAMPLE_PASSWORD, expires_at: EXAMPLE_LINK.expires_at },
    output: { ...EXAMPLE_LINK, token: EXAMPLE_TOKEN },
  },
}).handle({
  async check({ db, principal, clock }, input) {
    requirePassword(input)
    const expiresAt = parseInstant(input.expires_at, 'expires_at')
    if (expiresAt.getTime() <= clock.now().getTime()) throw invalidField('expires_at', 'must be in the future')
    const shared = { expiresAt, ...(await targetOf(db, principal, input)) }
    if (input.is_public && !(await organizations.get(db, shared.owner.organizationId)).allowsPublicLinks) throw publicLinksForbidden()
    return shared
  },
  async prepare({ shares }, { password = randomBytes(RANDOM_PASSWORD_BYTES).toString('base64url') }) {
    return await shares.hashPassword(password)
  },
  async execute(
    { tx, principal, clock, lineage, attributeTo },
    { permission, is_public: isPublic },
    { expiresAt, target, owner, origins },
    passwordHash,
  ) {
    attributeTo(owner.organizationId)
    if (isPublic && !(await organizations.allowsPublicLinks(tx, owner.organizationId))) throw publicLinksForbidden()
    await projects.lock(tx, owner.id)
    if (target.type === 'item') await items.lock(tx, target.itemSeq)
    else if (target.type === 'collection') await collections.lock(tx, owner.id, target.id)
    else await maps.lock(tx, { organizationId: owner.organizationId, id: target.id })
    const createdBy = principal.kind === 'user' ? principal.userId : null
    const { link, token } = await shareLinks.insert(tx, {
      organizationId: owner.organizationId,
      projectId: owner.id,
      target,
      permission,
      passwordHash,
      isPublic,
      expiresAt,
      createdBy,
      creatorId: principal.userId,
      now: clock.now(),
    })
    for (const origin of origins) lineage.record('share_link', link.id, 'derived_from', origin)
    return { ...toRecord(link), token }
  },
})

function requirePassword({ password, is_public: isPublic }: { password?: string; is_public: boolean }): void {
  if (isPublic && password !== undefined) throw invalidField('password', 'cannot be combined with is_public')
  if (!isPublic && password === undefined) throw invalidField('password', 'is missing')
  if (password !== undefined && Buffer.byteLength(password) > MAX_PASSWORD_BYTES)
    throw invalidField('password', `must have at most ${MAX_PASSWORD_BYTES} bytes`)
}

const publicLinksForbidden = () =>
  problem('forbidden', 'Your organization does not allow links without a password; an owner or admin can allow them')

async function targetOf(
  db: Context['db'],
  principal: Principal,
  { target_type, target_id, permission }: { target_type: ShareTarget; target_id: string; permission: SharePermission },
) {
  if (target_type === 'item') {
    const { item, project } = await items.requireEditor(db, principal, target_id)
    const origins: Origin[] = [{ kind: 'item', id: item.id }]
    return { target: { type: 'item' as const, id: item.id, itemSeq: item.seq }, owner: project, origins }
  }
  if (target_type === 'map') {
    if (permission === 'download') throw invalidField('permission', 'must be view: a map is only shown; share an item for its files')
    const { map, project } = await maps.requireEditor(db, principal, target_id)
    return { target: { type: 'map' as const, id: map.id }, owner: project, origins: await originsOf(db, map) }
  }
  const collection = await collections.requireReader(db, principal, target_id)
  const owner = projects.requireActive(await projects.requireRole(db, principal, collection.projectId, 'editor'))
  const origins: Origin[] = [{ kind: 'collection', id: collection.id }]
  return { target: { type: 'collection' as const, id: collection.id }, owner, origins }
}

interface Origin {
  kind: 'item' | 'collection'
  id: string
}

/** All imagery of a map, so that the lineage of each item names the link. */
async function originsOf(db: Context['db'], map: maps.SavedMap): Promise<Origin[]> {
  const found = await maps.sourcesOf(db, map, map.content.layers)
  const origins: Origin[] = [
    ...[...found.items.keys()].map((id) => ({ kind: 'item' as const, id })),
    ...[...found.collections.keys()].map((id) => ({ kind: 'collection' as const, id })),
  ]
  if (origins.length === 0) throw invalidField('target_id', 'is a map without imagery; add an item or a collection to it first')
  return origins
}
