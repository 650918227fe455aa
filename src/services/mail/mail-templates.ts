/** Templates of the emails we send, as plain text and as simple HTML with the same words. */
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
