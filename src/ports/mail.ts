/** A mail as its reader sees it. */
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
