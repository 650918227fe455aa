/** One email, as plain text and as HTML. */
export interface MailMessage {
  to: { name: string; address: string }
  subject: string
  text: string
  html: string
}

export interface Mail {
  send(message: MailMessage): Promise<void>
  close(): Promise<void>
}
