/**
 * Those who write while the service is killed. Each keeps to things of its own and does one write at a time, so that it
 * knows what the database must hold: what was acknowledged last, or that and the one write whose answer never came.
 */
import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { sql } from 'kysely'
import type { Db } from '#db/tables.ts'
import { call, PASSWORD, post, type Owner, type Reply } from '../support/client.ts'
import type { Random } from '../support/random.ts'

/** What all actors share in a round. */
export interface Stage {
  baseUrl: string
  owner: Owner
  /** A key of the owner's that may write. */
  key: string
  acknowledged: Acknowledged[]
  /** Contradictions that an answer showed by itself. */
  contradictions: string[]
}

export interface Acknowledged {
  operation: string
  /** Null for sign-in routes, which are no operations. */
  invocationId: string | null
}

export interface Actor {
  /** One write. False: it was not acknowledged, so nothing more is done before `reconcile`. */
  step(stage: Stage): Promise<boolean>
  /** Says what was lost, and takes over what an unacknowledged write did. */
  reconcile(db: Db): Promise<string[]>
}

/** Sends one write; null when the service went away or failed, so that nobody knows whether it happened. */
async function write(stage: Stage, operation: string, send: () => Promise<Reply>): Promise<Reply | null> {
  let reply: Reply
  try {
    reply = await send()
  } catch {
    return null
  }
  if (reply.status >= 500) return null
  if (reply.status >= 300) {
    stage.contradictions.push(`${operation} answered ${reply.status}: ${reply.text}`)
    return null
  }
  stage.acknowledged.push({ operation, invocationId: reply.invocationId })
  return reply
}

/** Keys cannot change who belongs to an organization. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['organizations.members.set_spend_limit', 'projects.add_member'])

const operate = (stage: Stage, id: string, input: object) =>
  write(stage, id, () => (FOR_PEOPLE.has(id) ? asOwner(stage, id, input) : call(stage.baseUrl, stage.key, id, input)))

/** In a session of the owner's, which is opened anew when the last one has ended. */
async function asOwner({ baseUrl, owner }: Stage, id: string, input: object): Promise<Reply> {
  const reply = await call(baseUrl, owner.token, id, input)
  if (reply.status !== 401) return reply
  const { body } = await post(baseUrl, '/auth/sign-in', { email: owner.email, password: PASSWORD, organization_id: owner.organizationId })
  owner.token = body.access_token
  return await call(baseUrl, owner.token, id, input)
}

interface ProjectState {
  name: string
  visibility: string
  archived: boolean
  deleted: boolean
  invited: string[]
}

/** Takes projects through their lives: made, changed, shared, archived, taken back, deleted. */
export function projectActor(name: string, random: Random): Actor {
  let count = 0
  let id: string | null = null
  let known: ProjectState | null = null
  let pending: ProjectState | null = null

  const next = (): { operation: string; input: object; after: ProjectState } => {
    if (!known || known.deleted) {
      const after = { name: `${name}-${++count}`, visibility: 'organization', archived: false, deleted: false, invited: [] }
      return { operation: 'projects.create', input: { name: after.name }, after }
    }
    const on = (operation: string, input: object, change: Partial<ProjectState>) => ({
      operation,
      input: { project_id: id, ...input },
      after: { ...known!, ...change },
    })
    if (known.archived) return on('projects.update', { is_archived: false }, { archived: false })
    const visibility = known.visibility === 'private' ? 'organization' : 'private'
    const email = `${name}-${++count}@example.com`.toLowerCase()
    return random.pick([
      () => on('projects.update', { visibility }, { visibility }),
      () => on('projects.add_member', { email, role: 'viewer' }, { invited: [...known!.invited, email].toSorted() }),
      () => on('projects.archive', {}, { archived: true }),
      () => on('projects.delete', {}, { deleted: true, invited: [] }), // Its open invitations end with it.
    ])()
  }

  return {
    async step(stage) {
      const { operation, input, after } = next()
      if (operation === 'projects.create') {
        id = null
        known = null
      }
      pending = after
      const reply = await operate(stage, operation, input)
      if (!reply) return false
      if (operation === 'projects.create') id = reply.body.id
      known = after
      pending = null
      return true
    },
    async reconcile(db) {
      const wanted = id ? sql`p.id = ${id}` : sql`p.name = ${pending?.name ?? ''}`
      const { rows } = await sql<ProjectState & { id: string }>`
        select p.id, p.name, p.visibility, p.archived_at is not null as archived, p.deleted_at is not null as deleted,
          array(select email from invitation i where i.project_id = p.id and i.closed_at is null order by email) as invited
        from project p where ${wanted}
      `.execute(db)
      const { id: foundId, ...stored } = rows[0] ?? { id: null }
      const actual = foundId ? (stored as ProjectState) : null
      const lost =
        isDeepStrictEqual(actual, known) || isDeepStrictEqual(actual, pending)
          ? []
          : [`project ${id ?? pending?.name}: ${JSON.stringify(actual)} instead of ${JSON.stringify(known)} or ${JSON.stringify(pending)}`]
      if (rows.length > 1) lost.push(`project ${pending?.name} was made ${rows.length} times`)
      ;[id, known, pending] = [foundId, actual, null]
      return lost
    },
  }
}

/** Mints keys, uses them, revokes them, and sees them refused. */
export function keyActor(name: string): Actor {
  let count = 0
  let key: { id: string; secret: string | null; isActive: boolean } | null = null
  let pending: 'create' | 'revoke' | null = null
  const nameOfKey = () => `${name}-${count}`

  const use = async (stage: Stage): Promise<boolean> => {
    try {
      const { status } = await call(stage.baseUrl, key!.secret!, 'organizations.get', {})
      if (status >= 500) return false
      const expected = key!.isActive ? 200 : 401
      if (status !== expected) stage.contradictions.push(`key ${key!.id}, ${key!.isActive ? 'active' : 'revoked'}, was answered ${status}`)
      return true
    } catch {
      return false
    }
  }
  return {
    async step(stage) {
      if (key?.isActive) {
        pending = 'revoke'
        if (!(await operate(stage, 'api_keys.revoke', { key_id: key.id }))) return false
        key.isActive = false
      } else {
        count++
        key = null
        pending = 'create'
        const created = await operate(stage, 'api_keys.create', { name: nameOfKey(), permissions: ['read'] })
        if (!created) return false
        key = { id: created.body.id, secret: created.body.key, isActive: true }
      }
      pending = null
      return await use(stage)
    },
    async reconcile(db) {
      const rows = await db.selectFrom('api_key').select(['id', 'is_active']).where('name', '=', nameOfKey()).execute()
      const actual = rows[0]
      const lost: string[] = []
      if (rows.length > 1) lost.push(`key ${nameOfKey()} was made ${rows.length} times`)
      if (key && !actual) lost.push(`key ${key.id} is gone`)
      if (key && actual && actual.is_active !== key.isActive && pending !== 'revoke')
        lost.push(`key ${key.id} is ${actual.is_active ? 'active' : 'revoked'} again`)
      if (!key && actual && pending !== 'create') lost.push(`key ${actual.id} was made by nobody`)
      key = actual ? { id: actual.id, secret: null, isActive: actual.is_active } : null
      pending = null
      return lost
    },
  }
}

/** Sets the same cap to ever higher values. */
export function spendLimitActor(owner: Owner): Actor {
  let known: number | null = null
  let pending: number | null = null
  return {
    async step(stage) {
      pending = (known ?? 0) + 1
      if (
        !(await operate(stage, 'organizations.members.set_spend_limit', {
          organizationId: owner.organizationId,
          userId: owner.userId,
          perOrderLimitCredits: pending,
          spendLimitCredits: pending * 2,
        }))
      )
        return false
      known = pending
      pending = null
      return true
    },
    async reconcile(db) {
      const row = await db
        .selectFrom('organization_member')
        .select(['per_order_limit_credits', 'spend_limit_credits'])
        .where('org_id', '=', owner.organizationId)
        .where('user_id', '=', owner.userId)
        .executeTakeFirst()
      const actual = row?.per_order_limit_credits ?? null
      const isWhole = actual === null ? row?.spend_limit_credits === null : row?.spend_limit_credits === actual * 2
      const lost =
        isWhole && (actual === known || (pending !== null && actual === pending))
          ? []
          : [`the cap is ${actual}, not ${known}${pending === null ? '' : ` or ${pending}`}`]
      known = actual
      pending = null
      return lost
    },
  }
}

/** Signs up once a round, and spends one refresh token after the other. */
export function sessionActor(name: string): Actor {
  let count = 0
  let email: string | null = null
  let token: string | null = null
  let pending: 'sign-up' | 'refresh' | null = null
  const hash = (secret: string) => createHash('sha256').update(secret).digest()
  return {
    async step(stage) {
      pending = email ? 'refresh' : 'sign-up'
      email ??= `${name}-${++count}@example.com`.toLowerCase()
      const reply =
        pending === 'sign-up'
          ? await write(stage, 'sign-up', () => post(stage.baseUrl, '/auth/sign-up', { email, password: PASSWORD, name }))
          : await write(stage, 'refresh', () => post(stage.baseUrl, '/auth/refresh', { refresh_token: token }))
      if (!reply) return false
      token = reply.body.refresh_token
      pending = null
      return true
    },
    async reconcile(db) {
      const lost: string[] = []
      const user = email ? await db.selectFrom('app_user').select('id').where('email', '=', email).executeTakeFirst() : undefined
      if (email && !user && pending !== 'sign-up') lost.push(`the account ${email} is gone`)
      if (token) {
        const row = await db
          .selectFrom('refresh_token as r')
          .innerJoin('user_session as s', 's.id', 'r.session_id')
          .select(['r.spent_at', 's.ended_at'])
          .where('r.token_hash', '=', hash(token))
          .executeTakeFirst()
        if (!row) lost.push(`a refresh token of ${email} is gone`)
        else if (row.ended_at) lost.push(`the session of ${email} was ended`)
        else if (row.spent_at && pending !== 'refresh') lost.push(`a refresh token of ${email} was spent by nobody`)
      }
      email = null
      token = null
      pending = null
      return lost
    },
  }
}
