/** Templates of the emails we send, as plain text and as simple HTML with the same words. */
import type { AccountNotice } from '#core/account-notice.ts'
import type { MailMessage } from '#ports/mail.ts'

interface Person {
  email: string
  name: string
}

interface Paragraphs {
  subject: string
  /** One to three sentences each. */
  paragraphs: readonly string[]
  link?: { label: string; url: string }
}

export function passwordResetMail(to: Person, url: string): MailMessage {
  return compose(to, {
    subject: 'Reset your password',
    paragraphs: [
      'We received a request to reset the password of your Groundtrack account.',
      'The link works once and expires in 30 minutes. If you did not request this, ignore this email; your password stays the same.',
    ],
    link: { label: 'Reset password', url },
  })
}

export function confirmAddressMail(to: Person, url: string): MailMessage {
  return compose(to, {
    subject: 'Confirm your email address',
    paragraphs: [
      'A Groundtrack account was created with this email address. If you created it, confirm the address and sign in.',
      'Confirming signs out all sessions, revokes API keys, invitations and share links, and pauses webhooks that were created before. ' +
        'If you did not create the account, do not confirm it: reset its password, or ignore this email.',
    ],
    link: { label: 'Confirm email address', url },
  })
}

export function changeEmailMail(to: Person, url: string): MailMessage {
  return compose(to, {
    subject: 'Confirm your new email address',
    paragraphs: [
      'This address was entered as the new email address of a Groundtrack account. If you entered it, confirm it to sign in with it.',
      'The link works once and expires in 24 hours. If you did not request this, ignore this email.',
    ],
    link: { label: 'Confirm new email address', url },
  })
}

/** The subject, and what happened; `detail` is a name or an address. */
const NOTICES: Readonly<Record<AccountNotice, (detail: string) => readonly [subject: string, sentence: string]>> = {
  email_changed: (detail) => ['Your email address was changed', `You now sign in to Groundtrack with ${detail}.`],
  password_changed: () => ['Your password was changed', 'The password of your Groundtrack account was changed. Other sessions have ended.'],
  authenticator_added: () => [
    'Authenticator app added',
    'An authenticator app was added to your Groundtrack account. Signing in with the password now requires a second factor.',
  ],
  authenticator_removed: () => ['Authenticator app removed', 'The authenticator app of your Groundtrack account was removed.'],
  passkey_added: (detail) => ['Passkey added', `The passkey ${quoted(detail)} was added to your Groundtrack account.`],
  passkey_removed: (detail) => ['Passkey removed', `The passkey ${quoted(detail)} of your Groundtrack account was removed.`],
  recovery_codes_renewed: () => [
    'New recovery codes',
    'New recovery codes were created for your Groundtrack account. The old ones no longer work.',
  ],
  recovery_code_used: () => ['Recovery code used', 'A recovery code of your Groundtrack account was used instead of a second factor.'],
  two_factors_reset: () => [
    'Two-factor sign-in was reset',
    'An administrator removed the second factors of your Groundtrack account, and its sessions have ended. Sign in with your password.',
  ],
  wrong_codes: () => [
    'Wrong codes at sign-in',
    'Several wrong codes were entered for your Groundtrack account by someone who knows its password. Further attempts must wait.',
  ],
  account_deleted: () => ['Your account was deleted', 'Your Groundtrack account was deleted.'],
}

export function accountNoticeMail(to: Person, notice: AccountNotice, { detail, url }: { detail: string | null; url: string }): MailMessage {
  const [subject, sentence] = NOTICES[notice](detail ?? '')
  const isOver = notice === 'account_deleted' || notice === 'email_changed'
  return compose(to, {
    subject,
    paragraphs: [
      sentence,
      isOver
        ? 'If this was not you, contact the operator of the service at once.'
        : 'If this was not you, change your password at once and check your sessions and second factors.',
    ],
    ...(isOver ? {} : { link: { label: 'Account settings', url } }),
  })
}

interface Invited {
  email: string
  organization: string
  project: string | null
  organizationRole: string
  projectRole: string | null
  inviter: string | null
  expiresAt: Date
}

export function invitationMail(invited: Invited, url: string): MailMessage {
  const { email, organization, organizationRole, project, projectRole, inviter, expiresAt } = invited
  const inProject = project ? ` and its project ${quoted(project)}${projectRole ? ` as ${projectRole}` : ''}` : ''
  const where = `the organization ${quoted(organization)} as ${organizationRole}${inProject}`
  return compose(
    { email, name: '' },
    {
      subject: `Invitation to ${defanged(organization)}`,
      paragraphs: [
        `${inviter ? `${quoted(inviter)} has invited you` : 'You have been invited'} to join ${where} on Groundtrack.`,
        `Sign in or create an account to join. The link works once and expires on ${expiresAt.toISOString().slice(0, 10)}.`,
        'If you did not expect this invitation, ignore this email.',
      ],
      link: { label: 'Accept invitation', url },
    },
  )
}

export function notificationMail(to: Person, news: readonly { title: string; body: string; createdAt: Date }[], url: string): MailMessage {
  return compose(to, {
    subject: news.length === 1 ? news[0]!.title : `${news.length} notifications`,
    paragraphs: news.map(
      ({ title, body, createdAt }) => `${title}. ${body} (${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC)`,
    ),
    link: { label: 'Open Groundtrack', url },
  })
}

const MAX_SUBJECT_LENGTH = 150

function compose({ email, name }: Person, { subject, paragraphs, link }: Paragraphs): MailMessage {
  const greeting = defanged(name) ? `Hello ${defanged(name)},` : 'Hello,'
  const text = [greeting, ...paragraphs.map(singleLine), ...(link ? [`${link.label}: ${link.url}`] : [])].join('\n\n')
  const html = [
    ...[greeting, ...paragraphs].map((paragraph) => `<p>${escape(singleLine(paragraph))}</p>`),
    ...(link ? [`<p><a href="${escape(link.url)}">${escape(link.label)}</a></p>`] : []),
  ].join('\n')
  return {
    to: { name: defanged(name), address: email },
    subject: singleLine(subject).slice(0, MAX_SUBJECT_LENGTH),
    text: `${text}\n`,
    html: `${html}\n`,
  }
}

const MAX_NAME_LENGTH = 80

/** A stranger may have chosen the name: remove what an email client would turn into a link or an address. */
const defanged = (name: string): string =>
  singleLine(name.replaceAll(/[:/\\@]|\.(?=\S)/g, ' ').replaceAll(/ +/g, ' ')).slice(0, MAX_NAME_LENGTH)
const quoted = (name: string): string => `“${defanged(name)}”`

/** Keeps user text on one line, so that no name can start a paragraph or a header. */
const singleLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
