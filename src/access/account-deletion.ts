/** Deletes accounts and organizations: what is deleted, what stays, and what must be settled first. */
import { accessDenied, problem } from '#core/problem.ts'
import type { Services } from '#context.ts'
import * as memberships from '#model/identity/membership.ts'
import * as organizations from '#model/identity/organization.ts'
import * as projects from '#model/identity/project.ts'
import * as sessions from '#model/identity/session.ts'
import * as users from '#model/identity/user.ts'
import { endProject } from '#model/imagery/project-end.ts'
import * as autoTopups from '#model/money/auto-topup.ts'
import { openDebts } from '#model/money/debts.ts'
import * as paymentMethods from '#model/money/payment-method.ts'
import { detachCardTask } from '#model/money/tasks.ts'
import * as shareLinks from '#model/sharing/share-link.ts'
import { announce } from './account-events.ts'
import { requirePassword, type Oneself } from './account.ts'
import type { SignInPlatform } from './sign-in.ts'
import { requireRuleMet } from './two-factor-rule.ts'

type LeavingPlatform = SignInPlatform & Pick<Services, 'commit'>
type Change = Parameters<Parameters<Services['commit']>[2]>[0]

/**
 * Deletes an account with its sessions, API keys and memberships. What the user created belongs to the organization and stays,
 * including share links. The only owner of an organization must transfer or delete it first.
 */
export async function deleteAccount(platform: LeavingPlatform, oneself: Oneself, password: string): Promise<void> {
  const who = await requirePassword(platform, oneself, password)
  const { id } = who
  await platform.db.transaction().execute(async (tx) => {
    const now = platform.clock.now()
    // Locked in a fixed order, so that of two owners who leave concurrently, the second one waits and finds itself the last.
    for (const { organizationId } of await memberships.standings(tx, id)) await memberships.lock(tx, organizationId)
    const standings = await memberships.standings(tx, id)
    const alone = standings.filter(({ role, owners }) => role === 'owner' && owners === 1)
    if (alone.length > 0)
      throw problem(
        'bad-request',
        `You are the only owner of ${alone.map(({ name }) => `'${name}'`).join(', ')}: make another member an owner with ` +
          'organizations.members.set_role, or delete it with POST /auth/delete-organization, then delete the account',
      )
    await announce(platform, tx, who, 'account_deleted')
    for (const { organizationId } of standings) await memberships.end(tx, organizationId, id, now)
    await sessions.endAllOfUser(tx, id, now)
    await users.erase(tx, id)
  })
}

/**
 * Deletes an organization with its projects, items, share links, API keys, invitations and memberships. Ledger, invoices, audit
 * and lineage stay, without the organization's own data. Only an owner can do it, and nothing may be owed.
 */
export async function deleteOrganization(
  platform: LeavingPlatform,
  oneself: Oneself,
  input: { organization_id: string; password: string; forfeit_credits?: boolean },
): Promise<void> {
  const { id } = await requirePassword(platform, oneself, input.password)
  await requireOwner(platform.db, input.organization_id, id)
  const organizationId = input.organization_id.toLowerCase()
  await platform.commit(organizationId, 'auth.delete_organization', async (change) => {
    await memberships.lock(change.tx, organizationId)
    await requireOwner(change.tx, organizationId, id)
    await requireSettled(change, organizationId, input.forfeit_credits ?? false)
    await endOrganization(change, organizationId)
  })
}

async function requireOwner(db: SignInPlatform['db'], organizationId: string, userId: string): Promise<void> {
  if ((await organizations.findMember(db, organizationId, userId))?.role !== 'owner') throw accessDenied()
  await requireRuleMet(db, userId)
}

async function requireSettled({ tx, clock }: Change, organizationId: string, forfeit: boolean): Promise<void> {
  const { matters, credits } = await openDebts(tx, organizationId, clock.now())
  if (matters.length > 0) throw problem('bad-request', `The organization cannot be deleted yet: ${matters.join('; ')}`)
  if (credits > 0 && !forfeit)
    throw problem(
      'bad-request',
      `${credits} credits are left and would be lost: use them, or repeat the request with forfeit_credits set to true`,
    )
}

async function endOrganization({ tx, clock, invocationId, tasks }: Change, organizationId: string): Promise<void> {
  const now = clock.now()
  for (const id of await projects.listIds(tx, organizationId)) await endProject(tx, { id, organizationId }, { invocationId, now })
  await shareLinks.revokeAllOf(tx, organizationId, now)
  await autoTopups.set(tx, organizationId, {
    autoEnabled: false,
    autoThresholdCredits: null,
    autoAmountCredits: null,
    autoDailyCapCents: null,
  })
  for (const card of await paymentMethods.list(tx, organizationId)) {
    await paymentMethods.detach(tx, organizationId, card.id, now)
    await tasks.enqueue(detachCardTask, { processor_id: card.processorId })
  }
  await memberships.endAll(tx, organizationId, now)
  await organizations.erase(tx, organizationId, now)
}
