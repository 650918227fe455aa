/** The mails that we send, as text and as simple HTML of the same words. */
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
  return written(to, {
    subject: 'Choose a new password',
    paragraphs: [
      'Somebody, probably you, asked for a new password for this address at Groundtrack.',
      'The link works once, for 30 minutes. If it was not you, do nothing: your password stays as it is.',
    ],
    link: { label: 'Choose a new password', url },
  })
}

export function confirmAddressMail(to: Person, url: string): MailMessage {
  return written(to, {
    subject: 'Confirm your address',
    paragraphs: [
      'A Groundtrack account was created with this address. Confirm the address if that was you, then sign in.',
      'Confirming signs out every session and ends API keys, invitations, share links and webhooks that were created before. ' +
        'If you did not create the account, do not confirm: reset its password instead, or ignore this email.',
    ],
    link: { label: 'Confirm the address', url },
  })
}

interface Invited {
  email: string
  organization: string
  project: string | null
  inviter: string | null
  expiresAt: Date
}

export function invitationMail({ email, organization, project, inviter, expiresAt }: Invited, url: string): MailMessage {
  const where = `the organization ${named(organization)}${project ? ` and its project ${named(project)}` : ''}`
  return written(
    { email, name: '' },
    {
      subject: `An invitation to ${tame(organization)}`,
      paragraphs: [
        `${inviter ? named(inviter) : 'Somebody'} invites you to ${where} at Groundtrack.`,
        `Sign in, or make an account, to join. The link works once, until ${expiresAt.toISOString().slice(0, 10)}.`,
        'If you do not know them, do nothing: without the link nobody joins in your name.',
      ],
      link: { label: 'Accept the invitation', url },
    },
  )
}

export function notificationMail(to: Person, news: readonly { title: string; body: string; createdAt: Date }[], url: string): MailMessage {
  return written(to, {
    subject: news.length === 1 ? news[0]!.title : `${news.length} notifications`,
    paragraphs: news.map(
      ({ title, body, createdAt }) => `${title}. ${body} (${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC)`,
    ),
    link: { label: 'Open Groundtrack', url },
  })
}

const MAX_SUBJECT_LENGTH = 150

function written({ email, name }: Person, { subject, paragraphs, link }: Paragraphs): MailMessage {
  const greeting = tame(name) ? `Hello ${tame(name)},` : 'Hello,'
  const text = [greeting, ...paragraphs.map(line), ...(link ? [`${link.label}: ${link.url}`] : [])].join('\n\n')
  const html = [
    ...[greeting, ...paragraphs].map((paragraph) => `<p>${escape(line(paragraph))}</p>`),
    ...(link ? [`<p><a href="${escape(link.url)}">${escape(link.label)}</a></p>`] : []),
  ].join('\n')
  return {
    to: { name: tame(name), address: email },
    subject: line(subject).slice(0, MAX_SUBJECT_LENGTH),
    text: `${text}\n`,
    html: `${html}\n`,
  }
}

const MAX_NAME_LENGTH = 80

/** A name that a stranger may have chosen, for a reader who may not know them: no mail program turns it into a link or an address. */
const tame = (name: string): string => line(name.replaceAll(/[:/\\@]|\.(?=\S)/g, ' ').replaceAll(/ +/g, ' ')).slice(0, MAX_NAME_LENGTH)
const named = (name: string): string => `“${tame(name)}”`

/** What people wrote stays within its line: no name begins a paragraph or a header of ours. */
const line = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
