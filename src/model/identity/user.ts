import { newId } from '#core/ids.ts'
import type { Language, NotificationMail, OrganizationRole, Units } from '#core/vocabulary.ts'
import type { Row } from '#db/row.ts'
import type { Db, Tx } from '#db/tables.ts'

const COLUMNS = [
  'id',
  'email',
  'name',
  'is_active as isActive',
  'is_system_admin as isSystemAdmin',
  'is_clip_user as isClipUser',
  'last_org_id as lastOrganizationId',
] as const

export type User = Row<'app_user', typeof COLUMNS>

/** Matches no password: the account is used through a provider until its user chooses one by email. */
export const NO_PASSWORD = '!'

export function normaliseEmail(email: string): string {
  return email.trim().toLowerCase()
}

export async function findByEmail(db: Db, email: string): Promise<{ user: User; passwordHash: string } | null> {
  const row = await db
    .selectFrom('app_user')
    .select([...COLUMNS, 'password_hash as passwordHash'])
    .where('email', '=', normaliseEmail(email))
    .executeTakeFirst()
  if (!row) return null
  const { passwordHash, ...user } = row
  return { user, passwordHash }
}

export async function find(db: Db, id: string): Promise<User | null> {
  return (await db.selectFrom('app_user').select(COLUMNS).where('id', '=', id).executeTakeFirst()) ?? null
}

export interface NewUser {
  email: string
  name: string
  passwordHash: string
  isSystemAdmin: boolean
  isClipUser: boolean
  now: Date
}

/** Returns null if the address is taken. */
export async function insert(tx: Tx, user: NewUser): Promise<User | null> {
  const row = await tx
    .insertInto('app_user')
    .values({
      id: newId(),
      email: normaliseEmail(user.email),
      name: user.name,
      password_hash: user.passwordHash,
      is_system_admin: user.isSystemAdmin,
      is_clip_user: user.isClipUser,
      created_at: user.now,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(COLUMNS)
    .executeTakeFirst()
  return row ?? null
}

/** Returns whether the state changed. Passwords, sessions and keys of an inactive user do not work. */
export async function setActive(db: Db, email: string, isActive: boolean): Promise<boolean> {
  const result = await db
    .updateTable('app_user')
    .set({ is_active: isActive })
    .where('email', '=', email)
    .where('is_active', '<>', isActive)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

export async function setPassword(db: Db, id: string, passwordHash: string): Promise<void> {
  await db.updateTable('app_user').set({ password_hash: passwordHash }).where('id', '=', id).execute()
}

const ERASED_TABLES = [
  'project_member',
  'notification',
  'mail_token',
  'totp_factor',
  'passkey',
  'recovery_code',
  'sign_in_challenge',
  'email_change',
  'sso_identity',
] as const

/** Keeps the row, which other rows refer to, but erases the personal data and frees the address. */
export async function erase(tx: Tx, id: string): Promise<void> {
  for (const table of ERASED_TABLES) await tx.deleteFrom(table).where('user_id', '=', id).execute()
  await tx
    .updateTable('app_user')
    .set({
      email: `deleted-${id}@deleted.invalid`,
      name: 'Deleted person',
      password_hash: '',
      is_active: false,
      is_system_admin: false,
      is_clip_user: false,
      last_org_id: null,
      email_confirmed_at: null,
      language: null,
      units: null,
    })
    .where('id', '=', id)
    .execute()
}

export async function setName(db: Db, id: string, name: string): Promise<void> {
  await db.updateTable('app_user').set({ name }).where('id', '=', id).execute()
}

export async function setRoles(db: Db, id: string, roles: { isSystemAdmin: boolean; isClipUser: boolean }): Promise<void> {
  await db
    .updateTable('app_user')
    .set({ is_system_admin: roles.isSystemAdmin, is_clip_user: roles.isClipUser })
    .where('id', '=', id)
    .execute()
}

/** Removes operator roles from users that the configuration no longer names. */
export async function withdrawRoles(
  db: Db,
  configured: { systemAdminEmails: readonly string[]; clipUserEmail: string | null },
): Promise<void> {
  const admins = [...configured.systemAdminEmails]
  await db
    .updateTable('app_user')
    .set({ is_system_admin: false })
    .where('is_system_admin', '=', true)
    .$if(admins.length > 0, (query) => query.where('email', 'not in', admins))
    .execute()
  await db
    .updateTable('app_user')
    .set({ is_clip_user: false })
    .where('is_clip_user', '=', true)
    .where('email', '!=', configured.clipUserEmail ?? '')
    .execute()
}

/** How the console writes numbers, dates and sizes for the user. */
export async function preferences(db: Db, id: string): Promise<{ language: Language | null; units: Units | null }> {
  return await db.selectFrom('app_user').select(['language', 'units']).where('id', '=', id).executeTakeFirstOrThrow()
}

export async function setPreferences(db: Db, id: string, chosen: { language?: Language | null; units?: Units | null }): Promise<void> {
  if (Object.keys(chosen).length > 0) await db.updateTable('app_user').set(chosen).where('id', '=', id).execute()
}

/** Returns false if another account has the address. */
export async function setEmail(tx: Tx, id: string, email: string, now: Date): Promise<boolean> {
  const taken = await tx.selectFrom('app_user').select('id').where('email', '=', normaliseEmail(email)).executeTakeFirst()
  if (taken) return taken.id === id
  await tx
    .updateTable('app_user')
    .set({ email: normaliseEmail(email), email_confirmed_at: now })
    .where('id', '=', id)
    .execute()
  return true
}

interface Membership {
  id: string
  name: string
  role: OrganizationRole
  requires_two_factors: boolean
}

export async function organizations(db: Db, userId: string): Promise<Membership[]> {
  return await db
    .selectFrom('organization_member as m')
    .innerJoin('organization as o', 'o.id', 'm.org_id')
    .select(['o.id', 'o.name', 'm.role', 'o.requires_two_factors'])
    .where('m.user_id', '=', userId)
    .orderBy('m.created_at')
    .execute()
}

/** The user has access to the mailbox: they used a link that was sent there. Returns true the first time. */
export async function confirmEmail(db: Db, id: string, now: Date): Promise<boolean> {
  const result = await db
    .updateTable('app_user')
    .set({ email_confirmed_at: now })
    .where('id', '=', id)
    .where('email_confirmed_at', 'is', null)
    .executeTakeFirst()
  return result.numUpdatedRows === 1n
}

export async function notificationMail(db: Db, id: string): Promise<NotificationMail> {
  return (await db.selectFrom('app_user').select('notification_mail as choice').where('id', '=', id).executeTakeFirstOrThrow()).choice
}

export async function setNotificationMail(db: Db, id: string, choice: NotificationMail): Promise<void> {
  await db.updateTable('app_user').set({ notification_mail: choice }).where('id', '=', id).execute()
}

/** The address was never confirmed, so whoever signed up with it may not own it: their password no longer works. */
export async function dropUnconfirmedPassword(tx: Tx, id: string): Promise<void> {
  await tx
    .updateTable('app_user')
    .set({ password_hash: NO_PASSWORD })
    .where('id', '=', id)
    .where('email_confirmed_at', 'is', null)
    .execute()
}
