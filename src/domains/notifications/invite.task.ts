import { DAY_MS } from '#core/time.ts'
import * as notifications from '#model/events/notification.ts'
import * as invitations from '#model/identity/invitation.ts'
import { inviteTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import { invitationMail } from '#services/mail/mail-templates.ts'
import { task, type TaskContext } from '#task.ts'

/** A day: strangers can found organizations, and nobody's mailbox is theirs to fill. */
const MAILS_PER_ORGANIZATION = 100
const MAILS_PER_ADDRESS = 5

/** Mails the link of an invitation, and tells the person in their inbox if they have one. The inviter's link works without. */
export default task({ ...inviteTask, retryLimit: 5 }).handle(async (context, { invitation_id }) => {
  const { db, clock, mail, baseUrl } = context
  const found = await invitations.findForMail(db, invitation_id, clock.now())
  if (!found) return
  const counted = [`invite-mails-of:${found.organizationId}`, `invite-mails-to:${found.email}`]
  if (!(await isWithinLimits(context, counted))) return await tellNotMailed(context, found)
  try {
    const token = await invitations.issueForMail(db, found.id)
    await mail.send(invitationMail(found, `${baseUrl}/invite/${token}`))
  } catch (error) {
    for (const subject of counted) await rateWindows.forgive(db, subject)
    throw error
  }
  await tellInvited(context, found)
})

async function isWithinLimits({ db, clock }: TaskContext, subjects: readonly string[]): Promise<boolean> {
  const counts = await rateWindows.countAll(
    db,
    subjects.map((subject) => ({ subject, windowSeconds: DAY_MS / 1_000 })),
    clock.now(),
  )
  return counts[0]!.ordinal <= MAILS_PER_ORGANIZATION && counts[1]!.ordinal <= MAILS_PER_ADDRESS
}

async function tellInvited({ db, clock }: TaskContext, invited: invitations.MailedInvitation): Promise<void> {
  const known = await users.findByEmail(db, invited.email)
  if (!known?.user.isActive) return
  const news: notifications.NewNotification = {
    kind: 'invitation',
    title: `You are invited to ${invited.organization}`,
    body: `The link that lets you in was mailed to ${invited.email}. It works once, until ${invited.expiresAt.toISOString().slice(0, 10)}.`,
    dedupeKey: `invited:${invited.id}`,
    isMailed: true,
  }
  await notifications.notify(db, invited.organizationId, { userId: known.user.id }, [news], clock.now())
}

async function tellNotMailed({ db, clock }: TaskContext, invited: invitations.MailedInvitation): Promise<void> {
  if (!invited.invitedBy) return
  const news: notifications.NewNotification = {
    kind: 'invitation',
    title: 'An invitation was not mailed',
    body:
      `Too many invitations were mailed in a day, so none went to ${invited.email}. ` +
      'The link that you were given works: send it to them yourself.',
    dedupeKey: `not-mailed:${invited.id}`,
  }
  await notifications.notify(db, invited.organizationId, { userId: invited.invitedBy }, [news], clock.now())
}
