/** The mails that we send, as text and as simple HTML of the same words. */
import type { Letter } from '#ports/mail.ts'

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

export function resetLetter(to: Person, url: string): Letter {
  return written(to, {
    subject: 'Choose a new password',
    paragraphs: [
      'Somebody, probably you, asked for a new password for this address at Groundtrack.',
      'The link works once, for 30 minutes. If it was not you, do nothing: your password stays as it is.',
    ],
    link: { label: 'Choose a new password', url },
  })
}

export function confirmLetter(to: Person, url: string): Letter {
  return written(to, {
    subject: 'Confirm your address',
    paragraphs: ['An account at Groundtrack was made with this address. Please confirm that mail reaches you here.'],
    link: { label: 'Confirm the address', url },
  })
}

export function newsLetter(to: Person, news: readonly { title: string; body: string; createdAt: Date }[], url: string): Letter {
  return written(to, {
    subject: news.length === 1 ? news[0]!.title : `${news.length} notifications`,
    paragraphs: news.map(
      ({ title, body, createdAt }) => `${title}. ${body} (${createdAt.toISOString().slice(0, 16).replace('T', ' ')} UTC)`,
    ),
    link: { label: 'Open Groundtrack', url },
  })
}

const MAX_SUBJECT_LENGTH = 150

function written({ email, name }: Person, { subject, paragraphs, link }: Paragraphs): Letter {
  const greeting = `Hello ${line(name)},`
  const text = [greeting, ...paragraphs.map(line), ...(link ? [`${link.label}: ${link.url}`] : [])].join('\n\n')
  const html = [
    ...[greeting, ...paragraphs].map((paragraph) => `<p>${escape(line(paragraph))}</p>`),
    ...(link ? [`<p><a href="${escape(link.url)}">${escape(link.label)}</a></p>`] : []),
  ].join('\n')
  return {
    to: { name: line(name), address: email },
    subject: line(subject).slice(0, MAX_SUBJECT_LENGTH),
    text: `${text}\n`,
    html: `${html}\n`,
  }
}

/** What people wrote stays within its line: no name begins a paragraph or a header of ours. */
const line = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

const escape = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
