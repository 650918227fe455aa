import path from 'node:path'
import type { Logger } from 'pino'
import { createMailFolder } from '#adapters/mail/files.ts'
import { createSmtpMail } from '#adapters/mail/smtp.ts'
import type { Config } from '#config.ts'
import { systemClock } from '#core/clock.ts'
import type { Mail } from '#ports/mail.ts'

/** Sends mail by SMTP, or writes it to files if SMTP_URL is not set. */
export function openMail({ smtpUrl, mailFrom: from, dataDir }: Config, log: Logger): Mail {
  if (smtpUrl) return createSmtpMail({ url: smtpUrl, from })
  return createMailFolder({
    folder: path.join(dataDir, 'mail'),
    from,
    clock: systemClock,
    onWritten: (file) => log.info({ file }, 'an email was written to a file; set SMTP_URL to send email'),
  })
}
