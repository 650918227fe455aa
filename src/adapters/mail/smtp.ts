import type { Transporter } from 'nodemailer'
import type { Mail } from '#ports/mail.ts'

const TIMEOUT_MS = 20_000

/** Sends mail by SMTP. The library encodes names and subjects, so that no line of theirs can become a header. */
export function createSmtpMail({ url, from }: { url: string; from: string }): Mail {
  let transport: Promise<Transporter> | null = null
  const open = async (): Promise<Transporter> => {
    const { createTransport } = await import('nodemailer')
    return createTransport({ url, connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS })
  }
  return {
    async send({ to, subject, text, html }) {
      transport ??= open()
      // A message must not name a file or URL to fetch.
      await (await transport).sendMail({ from, to, subject, text, html, disableFileAccess: true, disableUrlAccess: true })
    },
    async close() {
      if (transport) (await transport).close()
    },
  }
}
