import { DAY_MS } from '#core/time.ts'
import * as notifications from '#model/events/notification.ts'
import * as invitations from '#model/identity/invitation.ts'
import { inviteTask } from '#model/identity/tasks.ts'
import * as users from '#model/identity/user.ts'
import * as rateWindows from '#model/platform/rate-window.ts'
import { invitationMail } from '#services/mail/mail-templates.ts'
import { task, type TaskContext } from '#task.ts'

/** Rate limits per day: anyone can create an organization, and must not flood other people's mailboxes from it. */
const MAILS_PER_ORGANIZATION = 100
const MAILS_PER_ADDRESS = 5

/** Emails the link of an invitation, and notifies the invited person if they have an account. The inviter's link works anyway. */
export default task({ ...inviteTask, retryLimit: 5 }).handle(async (context, { invitation_id }) => {
  const { db, clock, mail, baseUrl } = context
  const invitation = await invitations.findForMail(db, invitation_id, clock.now())
  if (!invitation) return
  const limitSubjects = [`invite-mails-of:${invitation.organizationId}`, `invite-mails-to:${invitation.email}`]
  if (!(await isWithinLimits(context, limitSubjects))) return await notifyNotMailed(context, invitation)
  try {
    const token = await invitations.issueForMail(db, invitation.id)
    await mail.send(invitationMail(invitation, `${baseUrl}/invite/${token}`))
  } catch (error) {
    for (const subject of limitSubjects) await rateWindows.forgive(db, subject)
    throw error
  }
  await notifyInvited(context, invitation)
})

async function isWithinLimits({ db, clock }: TaskContext, subjects: readonly string[]): Promise<boolean> {
  const counts = await rateWindows.countAll(
    db,
    subjects.map((subject) => ({ subject, windowSeconds: DAY_MS / 1_000 })),
    clock.now(),
  )
  return counts[0]!.ordinal <= MAILS_PER_ORGANIZATION && counts[1]!.ordinal <= MAILS_PER_ADDRESS
}

async function notifyInvited({ db, clock }: TaskContext, invited: invitations.NamedInvitation): Promise<void> {
  const account = await users.findByEmail(db, invited.email)
  if (!account?.user.isActive) return
  const news: notifications.NewNotification = {
    kind: 'invitation',
    title: `You are invited to ${invited.organization}`,
    body: `We emailed the link to ${invited.email}. It works once and expires on ${invited.expiresAt.toISOString().slice(0, 10)}.`,
    dedupeKey: `invited:${invited.id}`,
    isMailed: true,
  }
  await notifications.notify(db, invited.organizationId, { userId: account.user.id }, [news], clock.now())
}

async function notifyNotMailed({ db, clock }: TaskContext, invited: invitations.NamedInvitation): Promise<void> {
  if (!invited.invitedBy) return
  const news: notifications.NewNotification = {
    kind: 'invitation',
    title: 'Invitation email not sent',
    body:
      `The daily limit of invitation emails was reached, so none was sent to ${invited.email}. ` +
      'The invitation link still works: send it to them yourself.',
    dedupeKey: `not-mailed:${invited.id}`,
  }
  await notifications.notify(db, invited.organizationId, { userId: invited.invitedBy }, [news], clock.now())
}
